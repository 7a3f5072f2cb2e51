package main

import (
	"slices"
	"time"
)

// function is a function in the store.
type function struct {
	id                   int64
	name, kind           string
	gprofng, perf        string // names of the alias that gprofng and perf should show
	aliases              []string
	object               string // path of the load object
	address, offset, end int64  // offset and end are file offsets; end is exclusive
}

// is reports whether a linkage name is one of the function's aliases.
func (f *function) is(linkage string) bool { return slices.Contains(f.aliases, linkage) }

// location is an instruction, and the function that it is in.
type location struct {
	function *function
	object   string
	offset   int64
}

// rawFrame is a recorded word, with the location that it has before rules are applied.
type rawFrame struct {
	word uint64
	location
}

// kernel reports whether a word is an address in the kernel.
func (r rawFrame) kernel() bool { return int64(r.word) < 0 }

// frame is a frame in machine mode. rule is the rule that inserted or changed it; "" for none.
type frame struct {
	location
	rule string
}

// stack is a recorded stack, as recorded (raw) and in machine mode.
type stack struct {
	id      int64
	reason  string // why the stack is cut; "" if it is complete
	raw     []rawFrame
	machine []frame
	values  map[string]int64 // by metric: sum of the samples
	leaks   map[string]int64 // by metric: leaks as gprofng counts them
}

// sample is a sample of a perf recording.
type sample struct {
	thread, time int64
	event        string
	value        int64
	stack        *stack
}

// pair is an exclusive and an inclusive value.
type pair struct{ exclusive, inclusive int64 }

// content is what the store has of a recording.
type content struct {
	units     map[string]string // units of metrics
	functions map[int64]*function
	total     int64 // id of the function <Total>
	stacks    map[int64]*stack
	samples   []sample  // only for perf recordings
	recorded  time.Time // end of the recording
	// values are the values in machine mode, by metric and function id.
	values map[string]map[int64]pair
	edges  map[edge]int64 // attributed values in machine mode
}

// edge is a metric, a function, and a caller or callee of the function.
type edge struct {
	metric          string
	function, other int64
	caller          bool // other is the caller; otherwise it is the callee
}
