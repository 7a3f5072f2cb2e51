package export

import (
	"time"
)

// experiment is what samples of an experiment refer to.
type experiment struct {
	id, name      string
	host, command string
	started       time.Time // zero if unknown
	duration      int64     // ns
	samples       int64
	labels        [][2]string
	processes     map[int32]process
	objects       map[int64]*object
	functions     map[int64]*function
	locations     []location // by their numbers
	summary       bool       // whether only sums are kept of it
	labelled      bool       // whether its samples may have labels
}

// process is one process of an experiment.
type process struct {
	pid     int64
	program string
}

// object is a load object.
type object struct {
	id            int64
	name, path    string
	buildID, kind string
	segments      []segment // code first
}

// segment is a mapping of a load object.
type segment struct {
	address, size, offset uint64
}

// function is a function, or one that was inlined.
type function struct {
	id            int64
	name, linkage string
	object        *object
	module        string
	address       int64
}

// location is an instruction on a stack. Its levels are its function and those that are
// inlined there, the outermost first.
type location struct {
	id     int64
	object *object
	offset int64
	levels []level
}

// level is a place in the source.
type level struct {
	function *function
	file     string
	line     int64
}

// sample is the values of the samples with one stack, of one thread where those are told
// apart.
type sample struct {
	path    []int32 // numbers of locations, the root's first; empty without a stack
	process int32
	thread  int64
	labels  string  // in JSON
	values  []int64 // by the selection's metrics
}

// sink takes the experiments of a selection, each followed by its samples in the order of
// the tree of stacks. What it is given changes with the next call.
type sink interface {
	begin(e *experiment) error
	sample(s *sample) error
}
