package symtab

import (
	"fmt"
	"slices"
	"stackmill/stages/loadobject/funcinfo"
	"strings"
	"testing"
)

// A name, and each symbol, finds all functions that have it, in order.
func TestNames(t *testing.T) {
	var functions []Function
	want := map[string][]int{}
	for i := range 300 {
		aliases := []string{fmt.Sprint("own", i), fmt.Sprint("shared", i%7), "all"}
		for _, a := range aliases {
			want[a] = append(want[a], i)
		}
		functions = append(functions, Function{Aliases: strings.Join(aliases, Separator), Name: fmt.Sprint("name", i%7), Kind: funcinfo.Normal}, Function{Kind: funcinfo.Normal, Module: 1})
	}
	for i := range 7 {
		for n := i; n < 300; n += 7 {
			want[fmt.Sprint("name", i)] = append(want[fmt.Sprint("name", i)], n)
		}
	}
	table := (&Draft{Functions: functions}).Finish()
	for name, list := range want {
		all := slices.Clone(list)
		for i := range all {
			all[i] *= 2
		}
		for want, of := range map[*[]int]*Table{&all: table, &list: table.OfModule(0)} {
			find := of.Functions.BySymbol
			if strings.HasPrefix(name, "name") {
				find = of.Functions.ByName
			}
			if got := find(name); !slices.Equal(got, *want) {
				t.Errorf("%s: %v, want %v", name, got, *want)
			}
		}
	}
	for _, none := range []string{"", "own", "shared7", "al", "name0"} {
		if got := table.Functions.BySymbol(none); got != nil {
			t.Errorf("%q: %v", none, got)
		}
	}
	for _, none := range []string{"", "all", "name"} {
		if got := table.Functions.ByName(none); got != nil {
			t.Errorf("%q: %v", none, got)
		}
	}
	if got := (&Functions{}).BySymbol("all"); got != nil {
		t.Errorf("%v", got)
	}
}
