package symtab

import (
	"hash/maphash"
	"math/bits"
	"strings"
	"sync"
)

// Linked returns the numbers of the functions that have a symbol, in their order.
func (f *Functions) Linked(symbol string) []int {
	if f.names == nil {
		return nil
	}
	return f.names.linked().find(symbol)
}

// Named returns the numbers of the functions that have a name for people, in their order.
func (f *Functions) Named(name string) []int {
	if f.names == nil {
		return nil
	}
	return f.names.named().find(name)
}

// nameLists find functions by their names. They are made when somebody asks: all recordings
// that have the table share them.
type nameLists struct{ linked, named func() *nameList }

func newNameLists(functions Functions) *nameLists {
	return &nameLists{
		linked: sync.OnceValue(func() *nameList {
			return newNameList(&functions, Separator, func(f *function) int32 { return f.aliases })
		}),
		named: sync.OnceValue(func() *nameList {
			return newNameList(&functions, "", func(f *function) int32 { return f.name })
		}),
	}
}

// nameList finds functions by their names: lists of those whose names have the same hash,
// as columns of numbers.
type nameList struct {
	functions *Functions
	separator string                // of the names in a text; empty: it is one
	text      func(*function) int32 // with a function's names
	seed      maphash.Seed
	first     []int32 // by hash: where its list begins, negative if it is empty
	list      []named
}

// named is a function that has a name, and the next of its list.
type named struct{ function, next int32 }

func newNameList(functions *Functions, separator string, text func(*function) int32) *nameList {
	l := &nameList{functions, separator, text, maphash.MakeSeed(), make([]int32, 1<<bits.Len(uint(functions.Len()))), make([]named, 0, functions.Len())}
	for i := range l.first {
		l.first[i] = -1
	}
	for i := functions.Len() - 1; i >= 0; i-- { // so that lists have them in their order
		for name, rest := l.cut(l.namesOf(i)); name != ""; name, rest = l.cut(rest) {
			first := l.at(name)
			l.list = append(l.list, named{int32(i), *first})
			*first = int32(len(l.list) - 1)
		}
	}
	return l
}

// namesOf is the text with a function's names.
func (l *nameList) namesOf(i int) string { return l.functions.texts.At(l.text(&l.functions.rest[i])) }

// cut returns the first name of a text and the others.
func (l *nameList) cut(text string) (name, rest string) {
	if l.separator == "" {
		return text, ""
	}
	name, rest, _ = strings.Cut(text, l.separator)
	return name, rest
}

// at is where the list of a name begins.
func (l *nameList) at(name string) *int32 {
	return &l.first[int(maphash.String(l.seed, name))&(len(l.first)-1)]
}

// find returns the numbers of the functions that have a name, in their order.
func (l *nameList) find(name string) (found []int) {
	if name == "" {
		return nil
	}
	for n := *l.at(name); n >= 0; n = l.list[n].next {
		i := int(l.list[n].function)
		if again := len(found) > 0 && found[len(found)-1] == i; !again && l.has(i, name) {
			found = append(found, i)
		}
	}
	return found
}

// has reports whether a name is one of a function's.
func (l *nameList) has(i int, name string) bool {
	for own, rest := l.cut(l.namesOf(i)); own != ""; own, rest = l.cut(rest) {
		if own == name {
			return true
		}
	}
	return false
}
