package symtab

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Functions are found by their names, and by each of their symbols: all that have it, in
// their order.
func TestNames(t *testing.T) {
	var functions []Function
	want := map[string][]int{}
	for i := range 300 {
		aliases := []string{fmt.Sprint("own", i), fmt.Sprint("shared", i%7), "all"}
		for _, a := range aliases {
			want[a] = append(want[a], i)
		}
		functions = append(functions, Function{Aliases: strings.Join(aliases, Separator), Name: fmt.Sprint("name", i%7)}, Function{})
	}
	for i := range 7 {
		for n := i; n < 300; n += 7 {
			want[fmt.Sprint("name", i)] = append(want[fmt.Sprint("name", i)], n)
		}
	}
	table, bare := &Table{Functions: functions}, &Table{Functions: functions}
	table.Index()
	for name, list := range want {
		for i := range list {
			list[i] *= 2
		}
		for _, t2 := range []*Table{table, bare, bare.With(functions)} {
			find := t2.Linked
			if strings.HasPrefix(name, "name") {
				find = t2.Named
			}
			if got := find(name); !slices.Equal(got, list) {
				t.Errorf("%s: %v, want %v", name, got, list)
			}
		}
	}
	for _, none := range []string{"", "own", "shared7", "al", "name0"} {
		if got := table.Linked(none); got != nil {
			t.Errorf("%q: %v", none, got)
		}
	}
	for _, none := range []string{"", "all", "name"} {
		if got := table.Named(none); got != nil {
			t.Errorf("%q: %v", none, got)
		}
	}
	if got := (&Table{}).Linked("all"); got != nil {
		t.Errorf("%v", got)
	}
}
