package export

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// autofdo sums values by line and call site: a profile for compilers.
type autofdo struct {
	*selection
	e         *experiment
	functions map[string]*fdoFunction
	starts    map[int64]int64 // of functions
	of        map[*function]*fdoName
	total     int64
	lost      int64 // of leaves without a line, or in functions whose first line is not known
	outside   int64 // of inlined functions whose first line is not known, at the lines that call them
}

// fdoFunction is a function, or one that was inlined at a call site.
type fdoFunction struct {
	total int64
	lines map[int64]int64 // by offset from the function's first line
	calls map[fdoCall]*fdoFunction
}

type fdoCall struct {
	offset int64
	name   string
}

// fdoName is what a profile says of a function; start is 0 if it is not known.
type fdoName struct {
	name  string
	start int64
}

// writeAutoFDO writes the text format of LLVM's sample profiles: for each function its
// lines as offsets from its first one, with what was inlined there below them.
func writeAutoFDO(ctx context.Context, s *selection, w io.Writer) error {
	a := &autofdo{selection: s, functions: map[string]*fdoFunction{}, of: map[*function]*fdoName{}}
	if err := a.readStarts(ctx); err != nil {
		return err
	}
	if err := s.send(ctx, a); err != nil {
		return err
	}
	if len(a.functions) == 0 {
		return errors.New("no line of a function's own is known: there is nothing that a compiler could use (autofdo needs debug information)")
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "# %s in %s mode of %s, without discriminators and entry counts: a store does not have them.\n# Of %d, %d are left out: their lines are not known.\n"+
		"# %d of functions inlined, whose first lines are not known, are at the lines that call them.\n", s.metrics[0].name, s.mode, oneLine.Replace(s.title), a.total, a.lost, a.outside)
	for _, name := range slices.SortedFunc(maps.Keys(a.functions), func(x, y string) int {
		return cmp.Or(cmp.Compare(a.functions[y].total, a.functions[x].total), strings.Compare(x, y))
	}) {
		f := a.functions[name]
		fmt.Fprintf(out, "%s:%d:0\n", name, f.total)
		f.write(out, 1)
	}
	return out.Flush()
}

// readStarts finds the first lines of functions: those of their first instructions. What
// was moved out of a function as cold begins anywhere, so that the function's counts.
func (a *autofdo) readStarts(ctx context.Context) error {
	a.starts = map[int64]int64{}
	var id, line int64
	return scan(ctx, a.on, `WITH own AS MATERIALIZED (
  SELECT f.experiment_id, f.function_id, i.line FROM functions f JOIN instructions i
    ON i.experiment_id = f.experiment_id AND i.function_id = f.function_id AND i."offset" = f."offset"
  WHERE i.line > 0 AND f.size > 0
)
SELECT f.function_id, min(o.line) FROM functions f JOIN own o
  ON o.experiment_id = f.experiment_id AND o.function_id = CASE WHEN contains(f.linkage_name, '.cold') THEN f.outline_of ELSE f.function_id END
GROUP BY ALL`, func() error { a.starts[id] = line; return nil }, &id, &line)
}

func (a *autofdo) begin(e *experiment) error {
	a.e = e
	clear(a.of)
	return nil
}

// named returns a function's name for the linker without what compilers append to it for
// clones and parts, which a compiler that reads the profile may make otherwise.
func (a *autofdo) named(f *function) *fdoName {
	n := a.of[f]
	if n == nil {
		n = &fdoName{name: cmp.Or(f.linkage, f.name), start: a.starts[f.id]}
		if at := strings.IndexByte(n.name, '.'); at > 0 {
			n.name = n.name[:at]
		}
		a.of[f] = n
	}
	return n
}

func (a *autofdo) sample(s *sample) error {
	v := s.values[0]
	a.total += v
	if len(s.path) == 0 {
		a.lost += v
		return nil
	}
	levels := a.e.locations[s.path[len(s.path)-1]].levels
	whole := len(levels)
	for i, l := range levels { // up to the first of which too little is known
		if a.named(l.function).start == 0 || l.line == 0 {
			levels = levels[:i]
			break
		}
	}
	switch {
	case len(levels) == 0:
		a.lost += v
		return nil
	case len(levels) < whole:
		a.outside += v
	}
	f := child(a.functions, a.named(levels[0].function).name)
	f.total += v
	for i, l := range levels {
		offset := (l.line - a.named(l.function).start) & 0xffff // as compilers have it
		if i == len(levels)-1 {
			f.lines[offset] += v
			break
		}
		f = child(f.calls, fdoCall{offset, a.named(levels[i+1].function).name})
		f.total += v
	}
	return nil
}

func child[K comparable](of map[K]*fdoFunction, key K) *fdoFunction {
	f := of[key]
	if f == nil {
		f = &fdoFunction{lines: map[int64]int64{}, calls: map[fdoCall]*fdoFunction{}}
		of[key] = f
	}
	return f
}

// write writes the lines of a function, indented by its depth, then what was inlined.
func (f *fdoFunction) write(out *bufio.Writer, depth int) {
	indent := strings.Repeat(" ", depth)
	for _, offset := range slices.Sorted(maps.Keys(f.lines)) {
		fmt.Fprintf(out, "%s%d: %d\n", indent, offset, f.lines[offset])
	}
	for _, c := range slices.SortedFunc(maps.Keys(f.calls), func(x, y fdoCall) int {
		return cmp.Or(cmp.Compare(x.offset, y.offset), strings.Compare(x.name, y.name))
	}) {
		fmt.Fprintf(out, "%s%d: %s:%d\n", indent, c.offset, c.name, f.calls[c].total)
		f.calls[c].write(out, depth+1)
	}
}
