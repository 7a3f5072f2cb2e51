package symbolize

import (
	"hash/maphash"
	"math/bits"
	"strings"

	"stackmill/stages/loadobject/symtab"
)

// symbols finds functions by their symbols: lists of those whose symbols have the same
// hash, as columns of numbers.
type symbols struct {
	functions []symtab.Function
	seed      maphash.Seed
	first     []int32 // by hash: where its list begins, negative if it is empty
	list      []symbolOf
}

// symbolOf is a function that has a symbol.
type symbolOf struct{ function, next int32 }

// newSymbols returns the symbols of functions.
func newSymbols(functions []symtab.Function) *symbols {
	s := &symbols{functions, maphash.MakeSeed(), make([]int32, 1<<bits.Len(uint(len(functions)))), make([]symbolOf, 0, len(functions))}
	for i := range s.first {
		s.first[i] = None
	}
	for i := len(functions) - 1; i >= 0; i-- { // so that lists have them in their order
		for alias := range strings.SplitSeq(functions[i].Aliases, symtab.Separator) {
			first := s.at(alias)
			s.list = append(s.list, symbolOf{int32(i), *first})
			*first = int32(len(s.list) - 1)
		}
	}
	return s
}

// at is where the list of a symbol begins.
func (s *symbols) at(symbol string) *int32 {
	return &s.first[int(maphash.String(s.seed, symbol))&(len(s.first)-1)]
}

// find returns the numbers of the functions that have a symbol, in their order.
func (s *symbols) find(symbol string) (found []int) {
	if symbol == "" {
		return nil
	}
	for n := *s.at(symbol); n >= 0; n = s.list[n].next {
		i := int(s.list[n].function)
		if again := len(found) > 0 && found[len(found)-1] == i; !again && isAlias(s.functions[i].Aliases, symbol) {
			found = append(found, i)
		}
	}
	return found
}

// isAlias reports whether a symbol is one of a function's.
func isAlias(aliases, symbol string) bool {
	for alias := range strings.SplitSeq(aliases, symtab.Separator) {
		if alias == symbol {
			return true
		}
	}
	return false
}
