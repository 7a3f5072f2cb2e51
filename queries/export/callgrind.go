package export

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// callgrindWriter sums costs by line, and costs of calls by line and callee (the format has no whole stacks). It
// writes the sums at the end.
type callgrindWriter struct {
	*selection
	e          *experiment
	functions  map[functionKey]*callgrindFunction
	order      []*callgrindFunction
	byLocation []*callgrindFunction // number of a location of the current experiment -> its function
	root       *callgrindFunction
	onPath     map[*callgrindFunction]bool // functions on the stack of the current sample
	out        *bufio.Writer
	names      map[string]int // kind and name -> number of the name
}

// callgrindFunction is a function with its own costs and those of its calls.
type callgrindFunction struct {
	name, file, object string
	number             int // index into callgrindWriter.order
	self               map[sourceLine][]int64
	calls              map[call][]int64
}

// sourceLine is a line in a file. An empty file means the function's file.
type sourceLine struct {
	file string
	line int64
}

// call identifies calls from one source line to one function.
type call struct {
	sourceLine
	callee *callgrindFunction
}

// writeCallgrind writes costs by line and by call. If a function is on a stack several times, only its outermost call
// gets the cost, so that the costs of all calls to a function sum to its inclusive value. The root, <Total>, calls
// the outermost functions; with `--by` it calls threads, which call these functions.
func writeCallgrind(ctx context.Context, s *selection, w io.Writer) error {
	c := &callgrindWriter{selection: s, functions: map[functionKey]*callgrindFunction{},
		onPath: map[*callgrindFunction]bool{}, out: bufio.NewWriter(w), names: map[string]int{}}
	c.root = c.function(functionKey{name: "<Total>"}, "", nil)
	if err := s.send(ctx, c); err != nil {
		return err
	}
	c.head()
	for _, f := range c.order {
		c.body(f)
	}
	fmt.Fprintf(c.out, "\ntotals: %s\n", costs(c.total))
	return c.out.Flush()
}

func (c *callgrindWriter) begin(e *experiment) error {
	c.e, c.byLocation = e, make([]*callgrindFunction, len(e.locations))
	return nil
}

func (c *callgrindWriter) sample(s *sample) error {
	clear(c.onPath)
	caller, at := c.root, sourceLine{}
	if name := c.thread(c.e, s); name != "" {
		caller = c.function(functionKey{name: name, file: threads}, threads, nil)
		c.root.call(call{at, caller}, s.values, true)
	}
	for _, n := range s.path {
		callee := c.functionAt(n)
		caller.call(call{at, callee}, s.values, !c.onPath[callee])
		c.onPath[callee] = true
		caller, at = callee, callee.at(&c.e.locations[n].levels[0])
	}
	if len(s.path) == 0 {
		none := c.function(functionKey{name: noStack}, "", nil)
		caller.call(call{at, none}, s.values, true)
		caller = none
	}
	add(caller.self, at, s.values)
	return nil
}

func (f *callgrindFunction) call(to call, values []int64, counts bool) {
	if !counts {
		values = make([]int64, len(values))
	}
	add(f.calls, to, values)
}

func add[K comparable](sums map[K][]int64, key K, values []int64) {
	sum := sums[key]
	if sum == nil {
		sum = make([]int64, len(values))
		sums[key] = sum
	}
	for i, v := range values {
		sum[i] += v
	}
}

// at returns the source line of a level. The file name is empty for lines in the function's own file.
func (f *callgrindFunction) at(l *level) sourceLine {
	if l.file == f.file {
		return sourceLine{"", l.line}
	}
	return sourceLine{l.file, l.line}
}

// functionAt returns the function at a location.
func (c *callgrindWriter) functionAt(n int32) *callgrindFunction {
	if c.byLocation[n] == nil {
		l := &c.e.locations[n].levels[0]
		c.byLocation[n] = c.function(functionKey{id: l.function.id, name: l.function.name}, l.file, l.function.object)
	}
	return c.byLocation[n]
}

// threads is the file name of functions that are threads: readers would merge functions with the same name and file.
const threads = "<threads>"

// function returns the function with a key, and adds it if it is new. The file of a function is the one given first.
func (c *callgrindWriter) function(key functionKey, file string, in *object) *callgrindFunction {
	f := c.functions[key]
	if f == nil {
		f = &callgrindFunction{name: key.name, file: file, number: len(c.order), self: map[sourceLine][]int64{}, calls: map[call][]int64{}}
		if in != nil {
			f.object = cmp.Or(in.path, in.name)
		}
		c.functions[key] = f
		c.order = append(c.order, f)
	}
	return f
}

func (c *callgrindWriter) head() {
	events := c.events()
	fmt.Fprintf(c.out, "# callgrind format\nversion: 1\ncreator: stackmill\ncmd: %s\n", oneLine.Replace(c.title))
	for _, remark := range c.leftOut {
		fmt.Fprintf(c.out, "desc: %s\n", oneLine.Replace(remark))
	}
	for i, m := range c.metrics {
		fmt.Fprintf(c.out, "desc: Unit of %s: %s\n", events[i], m.unit)
	}
	fmt.Fprintf(c.out, "positions: line\nevents: %s\nsummary: %s\n", strings.Join(events, " "), costs(c.total))
}

// events returns a name for each metric. The names have no blanks and are unique.
func (c *callgrindWriter) events() (names []string) {
	for _, m := range c.metrics {
		word := strings.Map(func(r rune) rune {
			if unicode.IsSpace(r) || r == ',' {
				return '_'
			}
			return r
		}, m.name)
		name := word
		for n := 2; slices.Contains(names, name); n++ {
			name = fmt.Sprintf("%s_%d", word, n)
		}
		names = append(names, name)
	}
	return names
}

func costs(values []int64) string {
	var b []byte
	for i, v := range values {
		if i > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendInt(b, v, 10)
	}
	return string(b)
}

// body writes a function: its own costs by line, then its calls.
func (c *callgrindWriter) body(f *callgrindFunction) {
	fmt.Fprintf(c.out, "\nob=%s\nfl=%s\nfn=%s\n", c.compressedName("ob", f.object), c.compressedName("fl", f.file), c.compressedName("fn", f.name))
	file := ""
	move := func(p sourceLine) {
		if p.file != file {
			file = p.file
			fmt.Fprintf(c.out, "fi=%s\n", c.compressedName("fl", cmp.Or(file, f.file)))
		}
	}
	for _, p := range slices.SortedFunc(maps.Keys(f.self), comparePositions) {
		move(p)
		fmt.Fprintf(c.out, "%d %s\n", p.line, costs(f.self[p]))
	}
	for _, to := range slices.SortedFunc(maps.Keys(f.calls), func(a, b call) int {
		return cmp.Or(comparePositions(a.sourceLine, b.sourceLine), cmp.Compare(a.callee.number, b.callee.number))
	}) {
		move(to.sourceLine)
		fmt.Fprintf(c.out, "cob=%s\ncfi=%s\ncfn=%s\ncalls=1 0\n%d %s\n", c.compressedName("ob", to.callee.object), c.compressedName("fl", to.callee.file), c.compressedName("fn", to.callee.name),
			to.line, costs(f.calls[to]))
	}
}

func comparePositions(a, b sourceLine) int {
	return cmp.Or(strings.Compare(a.file, b.file), cmp.Compare(a.line, b.line))
}

// compressedName returns "(NUMBER) NAME" when a name is used first, and then "(NUMBER)".
func (c *callgrindWriter) compressedName(kind, name string) string {
	if strings.TrimSpace(name) == "" { // an empty name would mean the earlier name with the number
		name = "???" // as Valgrind's tools write unknown names
	}
	name = oneLine.Replace(name)
	key := kind + name
	if n, ok := c.names[key]; ok {
		return fmt.Sprintf("(%d)", n)
	}
	n := len(c.names) + 1
	c.names[key] = n
	return fmt.Sprintf("(%d) %s", n, name)
}
