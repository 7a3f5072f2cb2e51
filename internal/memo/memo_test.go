package memo

import "testing"

// Get finds a value only once, even if it is the zero value.
func TestGet(t *testing.T) {
	known, calls := map[string]int{"a": 7}, 0
	find := func() int { calls++; return 0 }
	for _, want := range []struct {
		key          string
		value, calls int
	}{{"a", 7, 0}, {"b", 0, 1}, {"b", 0, 1}} {
		if v := Get(known, want.key, find); v != want.value || calls != want.calls {
			t.Errorf("%s is %d after %d calls, want %+v", want.key, v, calls, want)
		}
	}
}
