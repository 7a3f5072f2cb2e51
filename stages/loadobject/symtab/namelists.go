package symtab

import (
	"cmp"
	"hash/maphash"
	"iter"
	"slices"
	"strings"
	"sync"
)

// BySymbol returns the indexes of the functions that have the given symbol, in ascending order.
func (f *Functions) BySymbol(symbol string) []int {
	if f.names == nil {
		return nil
	}
	return f.names.symbols().find(symbol)
}

// ByName returns the indexes of the functions with the given readable name, in ascending order.
func (f *Functions) ByName(name string) []int {
	if f.names == nil {
		return nil
	}
	return f.names.names().find(name)
}

// nameIndexes find functions by symbol and by readable name. They are built on first use, and
// shared by all recordings that use the table.
type nameIndexes struct{ symbols, names func() *nameIndex }

func newNameIndexes(functions Functions) *nameIndexes {
	text := func(n int32) string { return functions.texts.At(n) }
	index := func(namesOf func(*function) iter.Seq[string]) func() *nameIndex {
		return sync.OnceValue(func() *nameIndex { return newNameIndex(functions.rest, namesOf) })
	}
	return &nameIndexes{
		symbols: index(func(f *function) iter.Seq[string] { return strings.SplitSeq(text(f.aliases), Separator) }),
		names:   index(func(f *function) iter.Seq[string] { return slices.Values([]string{text(f.name)}) }),
	}
}

// nameIndex finds functions by the hashes of their names. It does not store the names: a map with
// hundreds of thousands of names would take several times the memory.
type nameIndex struct {
	functions []function
	namesOf   func(*function) iter.Seq[string]
	seed      maphash.Seed
	hashes    []nameHash // sorted
}

type nameHash struct {
	hash     uint64
	function int32
}

func newNameIndex(functions []function, namesOf func(*function) iter.Seq[string]) *nameIndex {
	l := &nameIndex{functions, namesOf, maphash.MakeSeed(), make([]nameHash, 0, len(functions))}
	for i := range functions {
		for name := range namesOf(&functions[i]) {
			l.hashes = append(l.hashes, nameHash{maphash.String(l.seed, name), int32(i)})
		}
	}
	slices.SortFunc(l.hashes, func(a, b nameHash) int {
		return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.function, b.function))
	})
	return l
}

// find returns the indexes of the functions with the given name, in ascending order.
func (l *nameIndex) find(name string) (found []int) {
	if name == "" {
		return nil
	}
	hash := maphash.String(l.seed, name)
	n, _ := slices.BinarySearchFunc(l.hashes, hash, func(x nameHash, hash uint64) int { return cmp.Compare(x.hash, hash) })
	for ; n < len(l.hashes) && l.hashes[n].hash == hash; n++ {
		i := int(l.hashes[n].function)
		for own := range l.namesOf(&l.functions[i]) {
			if own == name && (len(found) == 0 || found[len(found)-1] != i) {
				found = append(found, i)
			}
		}
	}
	return found
}
