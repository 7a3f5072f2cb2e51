package main

import (
	"slices"
	"time"
)

// function is one function of the store.
type function struct {
	id                   int64
	name, kind           string
	gprofng, perf        string // the names, by the alias that each peer chooses
	aliases              []string
	object               string // the load object's path
	address, offset, end int64  // offset and end are in the file
}

// is reports whether a linkage name is one of the function's.
func (f *function) is(linkage string) bool { return slices.Contains(f.aliases, linkage) }

// location is one instruction on a stack.
type location struct {
	function *function
	object   string
	offset   int64
}

// rawFrame is a word of a recorded stack, with its location before the rules.
type rawFrame struct {
	word uint64
	location
}

// kernel reports whether a word is an address in the kernel.
func (r rawFrame) kernel() bool { return int64(r.word) < 0 }

// frame is a frame of a stack to which the rules were applied.
type frame struct {
	location
	rule string
}

// stack is a recorded stack, before the rules and in machine mode.
type stack struct {
	id      int64
	reason  string // why it is cut
	raw     []rawFrame
	machine []frame
	values  map[string]int64 // by metric
	leaks   map[string]int64 // gprofng's leaks by metric
}

// sample is one sample of perf.
type sample struct {
	thread, time int64
	event        string
	value        int64
	stack        *stack
}

// pair is an exclusive and an inclusive value.
type pair struct{ exclusive, inclusive int64 }

// content is a store's content of one recording.
type content struct {
	units     map[string]string // by metric
	functions map[int64]*function
	total     int64 // the id of <Total>
	stacks    map[int64]*stack
	samples   []sample  // samples of a perf recording
	recorded  time.Time // when the recording ended
	// values are the values in machine mode, by metric and function.
	values map[string]map[int64]pair
	edges  map[edge]int64 // attributed, in machine mode
}

// edge is a function and a caller or callee of it, for a metric.
type edge struct {
	metric          string
	function, other int64
	caller          bool // the other function is the caller
}
