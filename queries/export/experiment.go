package export

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
)

// experiment holds what the samples of an experiment refer to.
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
	locations     []location // indexed by number
	summary       bool       // only its sums are kept
	labeled       bool       // its samples may have labels
}

// process is one process of an experiment.
type process struct {
	pid     int64
	program string
	samples int64
}

// object is a load object.
type object struct {
	id            int64
	name, path    string
	buildID, kind string
	segments      []segment // code first
}

// The load objects of code outside of files.
const unknownObject, generatedCode = "<Unknown>", "<DYNAMIC_FUNCTIONS>"

// isMapped reports whether a load object can be a mapping.
func (o *object) isMapped() bool { return o.name != unknownObject && o.name != generatedCode }

// segment is a mapping of a load object.
type segment struct {
	address, size, offset uint64
}

// function is a function, inlined or not.
type function struct {
	id            int64
	name, linkage string
	object        *object
	module        string
	address       int64
	file          string // the first known source file; may be empty
	start         int64  // the line of its declaration, 0 if unknown
}

// noteFile records a source file of the function.
func (f *function) noteFile(file string) { f.file = cmp.Or(f.file, file) }

const unknownModule = "(unknown)"

// source returns a source file of the function, or its module's if it has no lines.
func (f *function) source() string {
	if f.file == "" && f.module != unknownModule {
		return f.module
	}
	return f.file
}

// location is an instruction on a stack. Its levels are its function and the functions inlined there, the outermost
// first.
type location struct {
	id     int64
	object *object
	offset int64
	levels []level
}

// frames returns the levels that are frames: the function and, if inline is set, the inlined functions.
func (l *location) frames(inline bool) []level {
	if inline {
		return l.levels
	}
	return l.levels[:1]
}

// level is a source position in a function.
type level struct {
	function      *function
	file          string
	line          int64
	discriminator int64 // the part of the line, 0 if unknown
}

// sample sums the samples with one stack and origin.
type sample struct {
	path []int32 // numbers of locations from the root; empty without a stack
	origin
	values []int64 // in the order of the selection's metrics
}

// origin holds the properties of a sample that separate equal stacks.
type origin struct {
	process      int32
	thread       int64
	name, cgroup string // of the thread; empty if not recorded
	labels       string // in JSON
}

// sink receives the experiments of a selection, each followed by its samples in the order of the tree of stacks. Its
// arguments are valid during the call.
type sink interface {
	begin(e *experiment) error
	sample(s *sample) error
}

// commLength is the length to which kernels cut a program's name.
const commLength = 15

// Functions that report whether a file has the name of a program: exactly, cut by the kernel, or with a version that a
// link to it omits (python3, python3.11).

func isName(file, program string) bool { return file == program }

func isCutName(file, program string) bool {
	return len(program) == commLength && strings.HasPrefix(file, program)
}

func isVersion(file, program string) bool {
	rest, ok := strings.CutPrefix(file, program)
	return ok && program != "" && strings.Trim(rest, "-.0123456789") == ""
}

// founder is the number of an experiment's first process.
const founder = 1

// program returns the executed load object, or nil: the one with the name of the founder, else of another process (those
// with most samples first), else one with a main function.
func (e *experiment) program() *object {
	var files []*object
	for _, o := range e.objects {
		if o.kind == "elf" && o.name != "" && o.name[0] != '[' {
			files = append(files, o)
		}
	}
	slices.SortFunc(files, func(a, b *object) int { return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.id, b.id)) })
	processes := slices.SortedFunc(maps.Keys(e.processes), func(a, b int32) int {
		return cmp.Or(cmp.Compare(e.processes[b].samples, e.processes[a].samples), cmp.Compare(a, b))
	})
	processes = append([]int32{founder}, processes...)
	for _, n := range processes {
		name := e.processes[n].program
		for _, named := range []func(file, program string) bool{isName, isCutName, isVersion} {
			if at := slices.IndexFunc(files, func(o *object) bool { return named(o.name, name) }); at >= 0 {
				return files[at]
			}
		}
	}
	starts := map[*object]bool{}
	for _, f := range e.functions {
		starts[f.object] = starts[f.object] || f.name == "main" || f.name == "main.main"
	}
	if at := slices.IndexFunc(files, func(o *object) bool { return starts[o] }); at >= 0 {
		return files[at]
	}
	return nil
}
