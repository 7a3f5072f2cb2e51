package export

import (
	"cmp"
	"fmt"
	"strconv"
)

// firefoxTables are the tables of a thread, as columns. Rows refer to each other by index.
type firefoxTables struct {
	f *firefoxWriter
	e *experiment
	t *timedThread

	stackFrames, prefixes  []int           // by stack: frame, and stack of the caller; -1: none
	locationFrames         map[int32][]int // by location: frames of its function and of the functions inlined there
	frameFuncs, depths     []int           // by frame: function and depth of inlining
	lines                  []int64
	functions              map[functionKey]int
	names, files, starts   []int // by function: index into textList, and first line; -1: unknown
	resources              []int // by function: index of the resource; -1: none
	resourceOf             map[*object]int
	resourceLibs, resNames []int
	texts                  map[string]int
	textList               []string
	stacks                 map[int32]int // index of a node in t.tree -> index of its stack
	noStackID              int           // stack for samples without a stack; -1: not added yet
}

func newFirefoxTables(f *firefoxWriter, e *experiment, t *timedThread) *firefoxTables {
	return &firefoxTables{f: f, e: e, t: t, locationFrames: map[int32][]int{}, functions: map[functionKey]int{}, resourceOf: map[*object]int{}, texts: map[string]int{},
		textList: []string{}, stacks: map[int32]int{}, noStackID: -1}
}

// stack returns the index of the stack that ends at a node. It adds the stacks of the node's callers first.
func (x *firefoxTables) stack(node int32) int {
	if node < 0 {
		if x.noStackID < 0 {
			x.noStackID = x.push(x.frame(level{function: &function{name: noStack}}, 0), -1)
		}
		return x.noStackID
	}
	var path []int32 // nodes from this one up to the first whose stack exists
	at := -1
	for n := node; n >= 0; n = x.t.tree.parents[n] {
		if known, ok := x.stacks[n]; ok {
			at = known
			break
		}
		path = append(path, n)
	}
	for i := len(path) - 1; i >= 0; i-- {
		for _, frame := range x.framesOf(x.t.tree.locations[path[i]]) {
			at = x.push(frame, at)
		}
		x.stacks[path[i]] = at
	}
	return at
}

func (x *firefoxTables) push(frame, prefix int) int {
	x.stackFrames, x.prefixes = append(x.stackFrames, frame), append(x.prefixes, prefix)
	return len(x.stackFrames) - 1
}

// framesOf returns the frames of a location.
func (x *firefoxTables) framesOf(n int32) []int {
	if x.locationFrames[n] == nil {
		for depth, l := range x.e.locations[n].levels {
			x.locationFrames[n] = append(x.locationFrames[n], x.frame(l, depth))
		}
	}
	return x.locationFrames[n]
}

func (x *firefoxTables) frame(l level, depth int) int {
	x.frameFuncs, x.depths, x.lines = append(x.frameFuncs, x.function(&l)), append(x.depths, depth), append(x.lines, l.line)
	return len(x.frameFuncs) - 1
}

func (x *firefoxTables) function(l *level) int {
	key := functionKey{l.function.id, l.function.name, l.file}
	n, ok := x.functions[key]
	if !ok {
		n = len(x.names)
		x.functions[key] = n
		file, start := -1, -1
		if l.file != "" {
			file = x.text(l.file)
		}
		if l.function.start > 0 {
			start = int(l.function.start)
		}
		x.starts = append(x.starts, start)
		x.names, x.files, x.resources = append(x.names, x.text(l.function.name)), append(x.files, file), append(x.resources, x.resource(l.function.object))
	}
	return n
}

// resource returns the index of the resource (a library) for a load object.
func (x *firefoxTables) resource(o *object) int {
	if o == nil {
		return -1
	}
	n, ok := x.resourceOf[o]
	if !ok {
		n = len(x.resourceLibs)
		x.resourceOf[o] = n
		x.resourceLibs, x.resNames = append(x.resourceLibs, x.f.lib(o)), append(x.resNames, x.text(cmp.Or(o.name, o.path)))
	}
	return n
}

func (x *firefoxTables) text(s string) int {
	n, ok := x.texts[s]
	if !ok {
		n = len(x.textList)
		x.texts[s] = n
		x.textList = append(x.textList, s)
	}
	return n
}

// write writes the thread's samples and tables.
func (x *firefoxTables) write() error {
	x.samples()
	column, out := x.f.column, x.f.out
	numbers := func(name string, list []int) { column(name, len(list), func(i int) string { return orNull(list[i]) }) }
	same := func(name string, n int, value string) { column(name, n, func(int) string { return value }) }

	stacks, frames, functions, resources := len(x.prefixes), len(x.frameFuncs), len(x.names), len(x.resourceLibs)
	fmt.Fprint(out, `"stackTable":{`)
	numbers("frame", x.stackFrames)
	numbers("prefix", x.prefixes)
	same("category", stacks, "0")
	same("subcategory", stacks, "0")
	fmt.Fprintf(out, `"length":%d},"frameTable":{`, stacks)
	same("address", frames, "-1")
	numbers("inlineDepth", x.depths)
	same("category", frames, "0")
	same("subcategory", frames, "0")
	numbers("func", x.frameFuncs)
	for _, name := range []string{"nativeSymbol", "innerWindowID", "implementation", "column"} {
		same(name, frames, "null")
	}
	column("line", frames, func(i int) string {
		if x.lines[i] == 0 {
			return "null"
		}
		return strconv.FormatInt(x.lines[i], 10)
	})
	fmt.Fprintf(out, `"length":%d},"funcTable":{`, frames)
	numbers("name", x.names)
	numbers("fileName", x.files)
	column("resource", functions, func(i int) string { return strconv.Itoa(x.resources[i]) })
	same("isJS", functions, "false")
	same("relevantForJS", functions, "false")
	numbers("lineNumber", x.starts)
	same("columnNumber", functions, "null")
	fmt.Fprintf(out, `"length":%d},"resourceTable":{`, functions)
	numbers("lib", x.resourceLibs)
	numbers("name", x.resNames)
	same("host", resources, "null")
	same("type", resources, "1") // 1: a library
	fmt.Fprintf(out, `"length":%d},`, resources)
	fmt.Fprintf(out, `"stringArray":%s,`, toJSON(x.textList))
	_, err := out.WriteString(`"nativeSymbols":{"libIndex":[],"address":[],"name":[],"functionSize":[],"length":0},` +
		`"markers":{"data":[],"name":[],"startTime":[],"endTime":[],"phase":[],"category":[],"length":0}}`)
	return err
}

func orNull(n int) string {
	if n < 0 {
		return "null"
	}
	return strconv.Itoa(n)
}

// firefoxWeights maps units to the profiler's types of weights. Times are written in ms.
var firefoxWeights = map[string]string{"ns": "tracing-ms", "bytes": "bytes"}

// samples writes the samples, and adds their stacks to the tables.
func (x *firefoxTables) samples() {
	unit := x.f.metrics[0].unit
	weights := cmp.Or(firefoxWeights[unit], "samples")
	n := len(x.t.values)
	fmt.Fprintf(x.f.out, `"samples":{"weightType":"%s",`, weights)
	x.f.column("stack", n, func(i int) string { return strconv.Itoa(x.stack(x.t.nodes[i])) })
	x.f.column("time", n, func(i int) string { return milliseconds(x.t.times[i]) })
	x.f.column("weight", n, func(i int) string {
		if unit == "ns" {
			return milliseconds(x.t.values[i])
		}
		return strconv.FormatInt(x.t.values[i], 10)
	})
	fmt.Fprintf(x.f.out, `"length":%d},`, n)
}
