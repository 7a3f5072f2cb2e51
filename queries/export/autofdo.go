package export

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"stackmill/internal/lazyregexp"
)

// autofdoWriter sums values by source line and call site, for compilers that optimize by a profile (AutoFDO).
type autofdoWriter struct {
	*selection
	e            *experiment
	functions    map[string]*fdoFunction
	starts       map[int64]int64 // by function id: first line of a function without a known declaration
	names        map[*function]*fdoFunctionName
	notClang     map[*object]bool // objects with discriminators that clang does not use
	goObjects    map[*object]bool // objects with functions in Go
	unknownLines int64            // sum of the samples that are left out, because the line or the function's first line is unknown
	movedOut     int64            // sum of samples in inlined functions without a first line: the calling lines get them
}

// fdoFunction has the values of a function or, if it was inlined, of one of its call sites.
type fdoFunction struct {
	total   int64
	lines   map[fdoLine]int64
	calls   map[fdoCall]*fdoFunction // inlined functions by call site and name
	targets map[fdoCall]int64        // values of calls that were not inlined
}

// fdoLine is a part of a source line. offset is relative to the function's first line; the discriminator
// distinguishes parts of a line.
type fdoLine struct{ offset, discriminator int64 }

type fdoCall struct {
	fdoLine
	name string
}

// fdoFunctionName is a function's name in the profile, and its first line. An empty name or start 0 means unknown.
type fdoFunctionName struct {
	name  string
	start int64
}

// writeAutoFDO writes LLVM's text format of sample profiles: for each function its lines, as offsets from its first
// line, and below them its inlined functions.
func writeAutoFDO(ctx context.Context, s *selection, w io.Writer) error {
	a := &autofdoWriter{selection: s, functions: map[string]*fdoFunction{}, names: map[*function]*fdoFunctionName{}}
	if err := a.readStarts(ctx); err != nil {
		return err
	}
	if err := s.send(ctx, a); err != nil {
		return err
	}
	if a.unknownLines == s.total[0] {
		return errors.New("no function has known lines, so a compiler could not use the profile (autofdo needs debug information)")
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "# %s in %s mode of %s, without entry counts: a store does not have them.\n# Of %d, %d are left out: their lines are not known.\n"+
		"# %d of inlined functions without a known first line are attributed to the lines that call them.\n", s.metrics[0].name, s.mode, oneLine.Replace(s.title), s.total[0], a.unknownLines, a.movedOut)
	for _, remark := range s.leftOut {
		fmt.Fprintf(out, "# %s\n", oneLine.Replace(remark))
	}
	for _, name := range slices.SortedFunc(maps.Keys(a.functions), func(x, y string) int {
		return cmp.Or(cmp.Compare(a.functions[y].total, a.functions[x].total), strings.Compare(x, y))
	}) {
		f := a.functions[name]
		fmt.Fprintf(out, "%s:%d:0\n", name, f.total)
		f.write(out, 1)
	}
	return out.Flush()
}

// readStarts finds the first lines of functions without a known declaration: the line of a function's first
// instruction. A cold part that was moved out of a function may begin anywhere in it, so it gets the line of the
// function.
func (a *autofdoWriter) readStarts(ctx context.Context) error {
	a.starts = map[int64]int64{}
	var id, line int64
	return scan(ctx, a.on, `WITH own AS MATERIALIZED (
  SELECT f.experiment_id, f.function_id, i.line FROM functions_wide f JOIN instructions_wide i
    ON i.experiment_id = f.experiment_id AND i.function_id = f.function_id AND i."offset" = f."offset"
  WHERE i.line > 0 AND f.size > 0
)
SELECT f.function_id, min(o.line) FROM functions_wide f JOIN own o
  ON o.experiment_id = f.experiment_id AND o.function_id = CASE WHEN contains(f.linkage_name, '.cold') THEN f.outline_of ELSE f.function_id END
WHERE f.start_line = 0 GROUP BY ALL`, func() error { a.starts[id] = line; return nil }, &id, &line)
}

func (a *autofdoWriter) begin(e *experiment) error {
	a.e, a.notClang, a.goObjects = e, map[*object]bool{}, map[*object]bool{}
	clear(a.names)
	for _, f := range e.functions {
		a.goObjects[f.object] = a.goObjects[f.object] || strings.HasSuffix(f.file, ".go")
	}
	for i := range e.locations {
		l := &e.locations[i]
		for _, v := range l.levels {
			a.notClang[l.object] = a.notClang[l.object] || v.discriminator%2 == 1 && v.discriminator < leastFactor
		}
	}
	return nil
}

// goFiles are the suffixes of files whose functions are compiled by Go, and "" for functions without a file.
var goFiles = []string{".go", ".s", ""}

// leastFactor is the smallest odd discriminator that clang uses: odd ones say how often code was duplicated. Other
// compilers number the parts of a line 1, 2, 3 and so on.
const leastFactor = 9

// base decodes the part of a discriminator by which clang identifies an instruction; the other part counts
// duplications. Bit 0 set means that the base is 0. Otherwise the base is in the five bits after it and, if the next
// bit is set, in seven more. Discriminators of other compilers mean nothing to clang: base returns 0.
func (a *autofdoWriter) base(o *object, discriminator int64) int64 {
	d := discriminator >> 1
	switch {
	case a.notClang[o] || discriminator&1 == 1:
		return 0
	case d&0x20 != 0:
		return d>>1&0xfe0 | d&0x1f
	}
	return d & 0x1f
}

// nameOf returns a function's linkage name and first line. It cuts suffixes of clones and parts (".cold"), which
// differ from build to build.
func (a *autofdoWriter) nameOf(f *function) *fdoFunctionName {
	n := a.names[f]
	if n == nil {
		n = &fdoFunctionName{name: cmp.Or(f.linkage, f.name), start: cmp.Or(f.start, a.starts[f.id])}
		// clang knows only linkage names; Go's compiler cannot read this format.
		if !linkerName().MatchString(n.name) || a.goObjects[f.object] && slices.Contains(goFiles, path.Ext(f.file)) {
			n.start, n.name = 0, ""
		}
		if at := strings.IndexByte(n.name, '.'); at > 0 {
			n.name = n.name[:at]
		}
		a.names[f] = n
	}
	return n
}

// linkerName matches names that the format can hold: a blank or colon would end the name, and other first characters
// begin a comment, a context or a number.
var linkerName = lazyregexp.New(`^[\pL_$.][^\s\v\pC:(<]*$`)

func (a *autofdoWriter) sample(s *sample) error {
	v := s.values[0]
	if len(s.path) == 0 {
		a.unknownLines += v
		return nil
	}
	for i, n := range s.path[:len(s.path)-1] {
		if f, at, whole := a.find(&a.e.locations[n], 0); f != nil && whole {
			if callee := a.nameOf(a.e.locations[s.path[i+1]].levels[0].function); callee.name != "" {
				call := fdoCall{at, callee.name}
				f.targets[call] += min(v, math.MaxInt64-f.targets[call]) // capped: a recursive call counts several times per sample, so the sum could overflow
			}
		}
	}
	f, at, whole := a.find(&a.e.locations[s.path[len(s.path)-1]], v)
	if f == nil {
		a.unknownLines += v
		return nil
	}
	if !whole {
		a.movedOut += v
	}
	f.lines[at] += v
	return nil
}

// find returns the innermost function at a location with the line in it, and adds v to the totals of that function
// and of those that it is inlined in. If the first line of a level is unknown, the level above it is returned and
// whole is false; f is nil if the outermost level is unknown.
func (a *autofdoWriter) find(l *location, v int64) (f *fdoFunction, at fdoLine, whole bool) {
	for i := range l.levels {
		level := &l.levels[i]
		n := a.nameOf(level.function)
		if n.start == 0 || level.line == 0 {
			return f, at, false
		}
		if f == nil {
			f = child(a.functions, n.name)
		} else {
			f = child(f.calls, fdoCall{at, n.name})
		}
		f.total += v
		at = fdoLine{(level.line - n.start) & 0xffff, a.base(l.object, level.discriminator)} // 16 bits, as in compilers
	}
	return f, at, true
}

func child[K comparable](of map[K]*fdoFunction, key K) *fdoFunction {
	f := of[key]
	if f == nil {
		f = &fdoFunction{lines: map[fdoLine]int64{}, calls: map[fdoCall]*fdoFunction{}, targets: map[fdoCall]int64{}}
		of[key] = f
	}
	return f
}

// write writes the lines of a function, indented by its depth of inlining, and then the functions inlined in it.
func (f *fdoFunction) write(out *bufio.Writer, depth int) {
	indent := strings.Repeat(" ", depth)
	targets := slices.SortedFunc(maps.Keys(f.targets), compareCalls)
	for _, c := range targets {
		f.lines[c.fdoLine] += 0 // adds the line if it has no value of its own
	}
	for _, at := range slices.SortedFunc(maps.Keys(f.lines), comparePlaces) {
		fmt.Fprintf(out, "%s%s: %d", indent, at, f.lines[at])
		for ; len(targets) > 0 && targets[0].fdoLine == at; targets = targets[1:] {
			fmt.Fprintf(out, " %s:%d", targets[0].name, f.targets[targets[0]])
		}
		fmt.Fprintln(out)
	}
	for _, c := range slices.SortedFunc(maps.Keys(f.calls), compareCalls) {
		fmt.Fprintf(out, "%s%s: %s:%d\n", indent, c.fdoLine, c.name, f.calls[c].total)
		f.calls[c].write(out, depth+1)
	}
}

// String returns the line as the format writes it: OFFSET or OFFSET.DISCRIMINATOR.
func (p fdoLine) String() string {
	if p.discriminator == 0 {
		return strconv.FormatInt(p.offset, 10)
	}
	return fmt.Sprintf("%d.%d", p.offset, p.discriminator)
}

func comparePlaces(a, b fdoLine) int {
	return cmp.Or(cmp.Compare(a.offset, b.offset), cmp.Compare(a.discriminator, b.discriminator))
}

func compareCalls(a, b fdoCall) int {
	return cmp.Or(comparePlaces(a.fdoLine, b.fdoLine), strings.Compare(a.name, b.name))
}
