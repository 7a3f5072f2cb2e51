package symtab

import (
	"hash/maphash"
	"math/bits"
	"strings"
	"sync"
)

// BySymbol returns the indexes of the functions with a symbol, in ascending order.
func (f *Functions) BySymbol(symbol string) []int {
	if f.names == nil {
		return nil
	}
	return f.names.symbols().find(symbol)
}

// ByName returns the indexes of the functions with a readable name, in ascending order.
func (f *Functions) ByName(name string) []int {
	if f.names == nil {
		return nil
	}
	return f.names.names().find(name)
}

// nameIndexes find functions by their names. They are built on first use, and shared by all
// recordings with the table.
type nameIndexes struct{ symbols, names func() *nameIndex }

func newNameIndexes(functions Functions) *nameIndexes {
	return &nameIndexes{
		symbols: sync.OnceValue(func() *nameIndex {
			return newNameIndex(&functions, Separator, func(f *function) int32 { return f.aliases })
		}),
		names: sync.OnceValue(func() *nameIndex {
			return newNameIndex(&functions, "", func(f *function) int32 { return f.name })
		}),
	}
}

// nameIndex is a hash table of functions by name. It has no strings of its own: a map of hundreds
// of thousands of names would take several times the memory.
type nameIndex struct {
	functions *Functions
	separator string                // of the names in a text; empty for a single name
	text      func(*function) int32 // returns the text with a function's names
	seed      maphash.Seed
	buckets   []int32 // by hash: index of the first link, negative if there is none
	links     []link
}

// link is a function in a bucket, and the index of the next link.
type link struct{ function, next int32 }

func newNameIndex(functions *Functions, separator string, text func(*function) int32) *nameIndex {
	l := &nameIndex{functions, separator, text, maphash.MakeSeed(), make([]int32, 1<<bits.Len(uint(functions.Len()))), make([]link, 0, functions.Len())}
	for i := range l.buckets {
		l.buckets[i] = -1
	}
	for i := functions.Len() - 1; i >= 0; i-- { // backward, so that buckets are in ascending order
		for name, rest := l.cut(l.namesOf(i)); name != ""; name, rest = l.cut(rest) {
			first := l.bucket(name)
			l.links = append(l.links, link{int32(i), *first})
			*first = int32(len(l.links) - 1)
		}
	}
	return l
}

// namesOf returns the text with a function's names.
func (l *nameIndex) namesOf(i int) string { return l.functions.texts.At(l.text(&l.functions.rest[i])) }

// cut returns the first name of a text and the others.
func (l *nameIndex) cut(text string) (name, rest string) {
	if l.separator == "" {
		return text, ""
	}
	name, rest, _ = strings.Cut(text, l.separator)
	return name, rest
}

func (l *nameIndex) bucket(name string) *int32 {
	return &l.buckets[int(maphash.String(l.seed, name))&(len(l.buckets)-1)]
}

// find returns the indexes of the functions with a name, in ascending order.
func (l *nameIndex) find(name string) (found []int) {
	if name == "" {
		return nil
	}
	for n := *l.bucket(name); n >= 0; n = l.links[n].next {
		i := int(l.links[n].function)
		if again := len(found) > 0 && found[len(found)-1] == i; !again && l.has(i, name) {
			found = append(found, i)
		}
	}
	return found
}

// has reports whether a function has a name.
func (l *nameIndex) has(i int, name string) bool {
	for own, rest := l.cut(l.namesOf(i)); own != ""; own, rest = l.cut(rest) {
		if own == name {
			return true
		}
	}
	return false
}
