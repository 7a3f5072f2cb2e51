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

// autofdoWriter sums values by line and call site, for compilers.
type autofdoWriter struct {
	*selection
	e            *experiment
	functions    map[string]*fdoFunction
	starts       map[int64]int64 // first lines of functions without a known declaration
	names        map[*function]*fdoFunctionName
	notClang     map[*object]bool // with discriminators of other compilers
	goObjects    map[*object]bool // with functions in Go
	unknownLines int64            // values of leaves without a line, or in functions without a known first line
	movedOut     int64            // values of inlined functions without a known first line, attributed to the lines that call them
}

// fdoFunction is a function, or a function inlined at a call site.
type fdoFunction struct {
	total   int64
	lines   map[fdoLine]int64
	calls   map[fdoCall]*fdoFunction // inlined calls
	targets map[fdoCall]int64        // other calls, with the values of the callees
}

// fdoLine is a part of a line, relative to the function's first line.
type fdoLine struct{ offset, discriminator int64 }

type fdoCall struct {
	fdoLine
	name string
}

// fdoFunctionName identifies a function in a profile; name is empty and start 0 if unknown.
type fdoFunctionName struct {
	name  string
	start int64
}

// writeAutoFDO writes the text format of LLVM's sample profiles: the lines of each function as offsets from its first
// line, with inlined functions below them.
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

// readStarts finds the first lines of functions without a known declaration: the lines of their first instructions. A cold
// part moved out of a function starts anywhere, so it gets the function's line.
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

// goFiles are the suffixes of files of Go packages, and of functions without a file.
var goFiles = []string{".go", ".s", ""}

// leastFactor is the smallest odd discriminator of clang: odd ones say that code was duplicated. Other compilers number the
// parts of a line from 1.
const leastFactor = 9

// base returns the part of a discriminator by which clang identifies an instruction. Bit 0 is 1 if it has none; otherwise it
// has five bits and, if the sixth is set, seven more. The rest counts duplications. Discriminators of other compilers
// mean nothing to clang.
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

// nameOf returns a function's linkage name without the suffixes of clones and parts, which differ between compilations.
func (a *autofdoWriter) nameOf(f *function) *fdoFunctionName {
	n := a.names[f]
	if n == nil {
		n = &fdoFunctionName{name: cmp.Or(f.linkage, f.name), start: cmp.Or(f.start, a.starts[f.id])}
		// Clang does not know names for people, and Go's compiler reads other profiles.
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

// linkerName matches names that the format can hold. A blank or colon ends a name, and other first characters begin
// comments, contexts and numbers.
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
				f.targets[call] += min(v, math.MaxInt64-f.targets[call]) // recursive calls count repeatedly
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

// find returns the innermost function at a location and the line in it, and adds a value to the totals of all levels. The
// function is nil if the outermost level has no known lines; whole is false if an inner level has none, so that an outer
// one is returned.
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
		at = fdoLine{(level.line - n.start) & 0xffff, a.base(l.object, level.discriminator)} // as compilers encode it
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

// write writes the lines of a function, indented by its depth, then the inlined functions.
func (f *fdoFunction) write(out *bufio.Writer, depth int) {
	indent := strings.Repeat(" ", depth)
	targets := slices.SortedFunc(maps.Keys(f.targets), compareCalls)
	for _, c := range targets {
		f.lines[c.fdoLine] += 0 // so that the line exists
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

// String returns the line in the format of profiles.
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
