package cachekey

import (
	"reflect"
	"strings"
	"testing"
)

// Values have different keys even if they are equal when joined by a separator or printed by fmt.
func TestNeighbors(t *testing.T) {
	type filter struct{ Hide, Where []string }
	seen := map[string]any{}
	for _, values := range [][]any{
		{}, {nil}, {""}, {"", ""}, {"a b"}, {"a", "b"}, {"a\x00b"}, {"a\n", "b"}, {"a", "\nb"}, {[]string{"a", "b"}}, {[]string{"a b"}},
		{[]string{"a"}, []string{"b"}}, {[]string{}, []string{"a", "b"}}, {[]string{"a", "b"}, []string{}},
		{filter{Hide: []string{"a"}}}, {filter{Where: []string{"a"}}}, {filter{Hide: []string{"a", "b"}}}, {filter{Hide: []string{"a b"}}}, {filter{[]string{"a"}, []string{"b"}}},
		{1}, {"1"}, {uint(1)}, {1.0}, {true}, {"true"}, {12, 3}, {1, 23}, {-1}, {"\xff"}, {"\xfe"}, {"\uFFFD"},
		{map[string]int{"a": 1, "b": 2}}, {map[string]int{"a": 2, "b": 1}}, {map[string]string{"a": "1", "b": "2"}},
	} {
		k := Of(values...)
		if other, ok := seen[k]; ok {
			t.Errorf("%#v has the key of %#v", values, other)
		}
		seen[k] = values
	}
	if Of([]string(nil)) != Of([]string{}) || Of(map[string]int{"a": 1, "b": 2}) != Of(map[string]int{"b": 2, "a": 1}) {
		t.Error("equal values have keys that differ")
	}
	if h := Hash("a", 1); len(h) != 32 || h != Hash("a", 1) || h == Hash("a1") {
		t.Error(h, Hash("a", 1), Hash("a1"))
	}
}

// A value of a kind without a key is a programming error: it must not get the same key as others.
func TestPanics(t *testing.T) {
	for _, v := range []any{new(int), func() {}, make(chan int), struct{ p *int }{}} {
		func() {
			defer func() {
				if p, ok := recover().(string); !ok || !strings.Contains(p, "has no key") {
					t.Errorf("%T: %v", v, p)
				}
			}()
			Of(v)
		}()
	}
}

// Two lists of values have the same key only if they are the same.
func FuzzOf(f *testing.F) {
	f.Add("a b", "a\x1fb", int64(1), true)
	f.Add("a\x00", "\x00\x1f", int64(-1), false)
	f.Add("\x01s\x01a", "s\x01a\x1fs", int64(115), true)
	f.Fuzz(func(t *testing.T, one, other string, n int64, flag bool) {
		lists := [][]any{}
		for _, text := range []string{one, other} {
			parts := strings.Split(text, "\x1f")
			half := parts[:len(parts)/2]
			rest := parts[len(parts)/2:]
			single := []any{}
			for _, p := range parts {
				single = append(single, p)
			}
			lists = append(lists, single, []any{parts}, []any{half, rest}, []any{rest, half}, []any{n, text, flag}, []any{text, n, flag}, []any{text, []byte(text)},
				[]any{struct {
					A, B []string
					N    int64
				}{half, rest, n}}, []any{map[string]int64{text: n}}, []any{map[string]string{one: other}})
		}
		for i, a := range lists {
			for _, b := range lists[:i] {
				if same := Of(a...) == Of(b...); same != equal(a, b) {
					t.Errorf("%#v and %#v: keys equal: %v", a, b, same)
				}
			}
		}
	})
}

// equal compares values as keys do: nil lists are empty.
func equal(a, b []any) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		x, y := reflect.ValueOf(a[i]), reflect.ValueOf(b[i])
		if x.Kind() == reflect.Slice && y.Kind() == reflect.Slice && x.Type() == y.Type() && x.Len() == 0 && y.Len() == 0 {
			continue
		}
		if !reflect.DeepEqual(a[i], b[i]) {
			return false
		}
	}
	return true
}
