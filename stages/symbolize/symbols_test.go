package symbolize

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"stackmill/stages/loadobject/symtab"
)

// Functions are found by each of their symbols, all that have it, in their order.
func TestSymbols(t *testing.T) {
	var functions []symtab.Function
	want := map[string][]int{}
	for i := range 300 {
		aliases := []string{fmt.Sprint("own", i), fmt.Sprint("shared", i%7), "all"}
		for _, a := range aliases {
			want[a] = append(want[a], i)
		}
		functions = append(functions, symtab.Function{Aliases: strings.Join(aliases, symtab.Separator)}, symtab.Function{})
	}
	s := newSymbols(functions)
	for symbol, list := range want {
		for i := range list {
			list[i] *= 2
		}
		if got := s.find(symbol); !slices.Equal(got, list) {
			t.Errorf("%s: %v, want %v", symbol, got, list)
		}
	}
	for _, none := range []string{"", "own", "shared7", "al"} {
		if got := s.find(none); got != nil {
			t.Errorf("%q: %v", none, got)
		}
	}
	if got := newSymbols(nil).find("all"); got != nil {
		t.Errorf("%v", got)
	}
}
