package export

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
)

// experiment is an experiment, and what its samples refer to.
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
	locations     []location // indexed by location number
	summary       bool       // it has no samples, only sums by function
	labeled       bool       // its samples may have labels of their own
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
	short         string // the name, after the parent folders that distinguish it from other load objects
	buildID, kind string
	segments      []segment // mappings of code come first
}

// Names of load objects for code that is in no file: unknown code, and code generated at run time.
const unknownObject, generatedCode = "<Unknown>", "<DYNAMIC_FUNCTIONS>"

// isMapped reports whether a load object is a file, so that it can be a mapping in a profile.
func (o *object) isMapped() bool { return o.name != unknownObject && o.name != generatedCode }

// segment is a mapping of a part of a load object; offset is the offset in its file.
type segment struct {
	address, size, offset uint64
}

// function is a function. It may be inlined somewhere.
type function struct {
	id            int64
	name, linkage string
	object        *object
	module        string
	shortModule   string // the part of the module's path that is the same in all builds
	kind          string
	address       int64
	file          string // the first source file found for it; "" if none
	start         int64  // line of its declaration; 0 if unknown
}

// noteFile sets the source file of the function if it has none yet.
func (f *function) noteFile(file string) { f.file = cmp.Or(f.file, file) }

const unknownModule = "(unknown)"

// source returns the function's source file or, if no file is known, the name of its module.
func (f *function) source() string {
	if f.file == "" && f.module != unknownModule {
		return f.module
	}
	return f.file
}

// location is an instruction in a stack. levels[0] is its function, followed by the functions inlined there, from the
// outermost to the innermost.
type location struct {
	id     int64
	object *object
	offset int64
	levels []level
}

// frames returns the levels that are frames in the export: all if inline is set, otherwise only the function.
func (l *location) frames(inline bool) []level {
	if inline {
		return l.levels
	}
	return l.levels[:1]
}

// level is a function at a location, with the source line in it.
type level struct {
	function      *function
	file          string
	line          int64
	discriminator int64 // distinguishes parts of the line; 0 if unknown
}

// sample is the sum of all samples with the same stack and origin.
type sample struct {
	path []int32 // location numbers from the root to the leaf; empty without a stack
	origin
	values []int64 // by metric, in the order of selection.metrics
}

// origin says where a sample was taken. Which fields are set depends on what separates stacks (selection.by).
type origin struct {
	process      int32
	thread       int64
	name, cgroup string // name and control group of the thread; empty if not recorded
	labels       string // the sample's own labels, as a JSON object
}

// sink receives the experiments of a selection, each followed by its samples, in the order of the stack tree. It must
// not keep the arguments.
type sink interface {
	begin(e *experiment) error
	sample(s *sample) error
}

// commLength is the length to which Linux cuts the name of a process.
const commLength = 15

// These functions report whether a file may be the program of a process: if the names are equal, if the kernel cut
// the name, or if the file has a version that the name lacks (python3.11 for python3).

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

// program returns the load object that the experiment executed, or nil if it is not known: the one with the name of
// the founder, else with the name of another process (those with the most samples first), else one with a main
// function.
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
