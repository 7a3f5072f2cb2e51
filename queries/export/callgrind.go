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

// callgrind sums costs by line and calls by line and callee, which is all that its format
// tells, and writes them at the end.
type callgrind struct {
	*selection
	e         *experiment
	functions map[functionKey]*callgrindFunction
	order     []*callgrindFunction
	known     []*callgrindFunction // of the experiment's locations
	root      *callgrindFunction
	seen      map[*callgrindFunction]bool // on the path
	out       *bufio.Writer
	names     map[string]int // by kind and name
}

// callgrindFunction is a function with its costs.
type callgrindFunction struct {
	name, file, object string
	number             int // in the order in which they were first seen
	self               map[position][]int64
	calls              map[call][]int64
}

// position is a source line, of another file than the function's if that is not empty.
type position struct {
	file string
	line int64
}

// call is a call site with what it calls.
type call struct {
	position
	callee *callgrindFunction
}

// writeCallgrind writes costs by line and what calls cost. With recursion the cost of a
// call counts where the callee is on the stack for the first time: so the costs of the
// calls to a function sum to its inclusive value. The root calls the outermost functions or,
// with `--by`, the threads, and these call the outermost functions.
func writeCallgrind(ctx context.Context, s *selection, w io.Writer) error {
	c := &callgrind{selection: s, functions: map[functionKey]*callgrindFunction{},
		seen: map[*callgrindFunction]bool{}, out: bufio.NewWriter(w), names: map[string]int{}}
	c.root = c.function(&function{name: "<Total>"}, "")
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

func (c *callgrind) begin(e *experiment) error {
	c.e, c.known = e, make([]*callgrindFunction, len(e.locations))
	return nil
}

func (c *callgrind) sample(s *sample) error {
	clear(c.seen)
	caller, at := c.root, position{}
	if name := c.thread(c.e, s); name != "" {
		caller = c.threadFunction(name)
		c.root.call(call{at, caller}, s.values, true)
	}
	for _, n := range s.path {
		callee := c.of(n)
		caller.call(call{at, callee}, s.values, !c.seen[callee])
		c.seen[callee] = true
		caller, at = callee, callee.at(&c.e.locations[n].levels[0])
	}
	if len(s.path) == 0 {
		none := c.function(&function{name: noStack}, "")
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

// at is the place of a level in its function.
func (f *callgrindFunction) at(l *level) position {
	if l.file == f.file {
		return position{"", l.line}
	}
	return position{l.file, l.line}
}

// of returns the function of a location.
func (c *callgrind) of(n int32) *callgrindFunction {
	if c.known[n] == nil {
		l := &c.e.locations[n].levels[0]
		c.known[n] = c.function(l.function, l.file)
	}
	return c.known[n]
}

// function returns a function. Its file is the first that is known of it.
func (c *callgrind) function(f *function, file string) *callgrindFunction {
	key := functionKey{id: f.id, name: f.name}
	known := c.functions[key]
	if known == nil {
		known = c.add(key, file)
		if f.object != nil {
			known.object = cmp.Or(f.object.path, f.object.name)
		}
	}
	return known
}

// threads is the file of the functions that are threads: readers take functions of one name
// and file for one.
const threads = "<threads>"

// threadFunction returns the function that stands for a thread.
func (c *callgrind) threadFunction(name string) *callgrindFunction {
	key := functionKey{name: name, file: threads}
	if known := c.functions[key]; known != nil {
		return known
	}
	return c.add(key, threads)
}

func (c *callgrind) add(key functionKey, file string) *callgrindFunction {
	f := &callgrindFunction{name: key.name, file: file, number: len(c.order), self: map[position][]int64{}, calls: map[call][]int64{}}
	c.functions[key] = f
	c.order = append(c.order, f)
	return f
}

func (c *callgrind) head() {
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

// events are the names of the metrics, in one word each, all different.
func (c *callgrind) events() (names []string) {
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

// body writes a function: costs by line, then calls.
func (c *callgrind) body(f *callgrindFunction) {
	fmt.Fprintf(c.out, "\nob=%s\nfl=%s\nfn=%s\n", c.named("ob", f.object), c.named("fl", f.file), c.named("fn", f.name))
	file := ""
	move := func(p position) {
		if p.file != file {
			file = p.file
			fmt.Fprintf(c.out, "fi=%s\n", c.named("fl", cmp.Or(file, f.file)))
		}
	}
	for _, p := range slices.SortedFunc(maps.Keys(f.self), comparePositions) {
		move(p)
		fmt.Fprintf(c.out, "%d %s\n", p.line, costs(f.self[p]))
	}
	for _, to := range slices.SortedFunc(maps.Keys(f.calls), func(a, b call) int {
		return cmp.Or(comparePositions(a.position, b.position), cmp.Compare(a.callee.number, b.callee.number))
	}) {
		move(to.position)
		fmt.Fprintf(c.out, "cob=%s\ncfi=%s\ncfn=%s\ncalls=1 0\n%d %s\n", c.named("ob", to.callee.object), c.named("fl", to.callee.file), c.named("fn", to.callee.name),
			to.line, costs(f.calls[to]))
	}
}

func comparePositions(a, b position) int {
	return cmp.Or(strings.Compare(a.file, b.file), cmp.Compare(a.line, b.line))
}

// named is a name with its number, or the number alone once that is known.
func (c *callgrind) named(kind, name string) string {
	if strings.TrimSpace(name) == "" { // a number without a name is one that is known
		name = "???" // as Valgrind's tools write what they do not know
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
