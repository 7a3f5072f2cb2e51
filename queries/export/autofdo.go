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

// autofdo sums values by line and call site: a profile for compilers.
type autofdo struct {
	*selection
	e         *experiment
	functions map[string]*fdoFunction
	starts    map[int64]int64 // of functions whose declarations are not known
	of        map[*function]*fdoName
	plain     map[*object]bool // whose discriminators are not clang's
	golang    map[*object]bool // that have functions in Go
	lost      int64            // of leaves without a line, or in functions whose first line is not known
	outside   int64            // of inlined functions whose first line is not known, at the lines that call them
}

// fdoFunction is a function, or one that was inlined at a call site.
type fdoFunction struct {
	total   int64
	lines   map[fdoPlace]int64
	calls   map[fdoCall]*fdoFunction // that were inlined
	targets map[fdoCall]int64        // of calls that were not, the values below them
}

// fdoPlace is a part of a line, which is counted from the function's first one.
type fdoPlace struct{ offset, discriminator int64 }

type fdoCall struct {
	fdoPlace
	name string
}

// fdoName is what a profile says of a function; name is empty and start 0 if unknown.
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
	if a.lost == s.total[0] {
		return errors.New("no line of a function's own is known: there is nothing that a compiler could use (autofdo needs debug information)")
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "# %s in %s mode of %s, without entry counts: a store does not have them.\n# Of %d, %d are left out: their lines are not known.\n"+
		"# %d of functions inlined, whose first lines are not known, are at the lines that call them.\n", s.metrics[0].name, s.mode, oneLine.Replace(s.title), s.total[0], a.lost, a.outside)
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

// readStarts finds the first lines of functions whose declarations are not known: those of
// their first instructions. What was moved out of a function as cold begins anywhere, so
// that the function's counts.
func (a *autofdo) readStarts(ctx context.Context) error {
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

func (a *autofdo) begin(e *experiment) error {
	a.e, a.plain, a.golang = e, map[*object]bool{}, map[*object]bool{}
	clear(a.of)
	for _, f := range e.functions {
		a.golang[f.object] = a.golang[f.object] || strings.HasSuffix(f.file, ".go")
	}
	for i := range e.locations {
		l := &e.locations[i]
		for _, v := range l.levels {
			a.plain[l.object] = a.plain[l.object] || v.discriminator%2 == 1 && v.discriminator < leastFactor
		}
	}
	return nil
}

// goFiles are how files of Go's packages end, and those of functions without one.
var goFiles = []string{".go", ".s", ""}

// leastFactor is the least odd discriminator that clang makes: such ones say that code was
// copied, at least once. Other compilers number the parts of a line from 1.
const leastFactor = 9

// base is the part of a discriminator by which clang finds an instruction again. It begins
// with bit 0: 1 for none, otherwise five bits and, if the sixth is set, seven more. The rest
// says how often code was copied. Those of other compilers mean nothing to clang.
func (a *autofdo) base(o *object, discriminator int64) int64 {
	d := discriminator >> 1
	switch {
	case a.plain[o] || discriminator&1 == 1:
		return 0
	case d&0x20 != 0:
		return d>>1&0xfe0 | d&0x1f
	}
	return d & 0x1f
}

// named returns a function's name for the linker without what compilers append to it for
// clones and parts, which a compiler that reads the profile may make otherwise.
func (a *autofdo) named(f *function) *fdoName {
	n := a.of[f]
	if n == nil {
		n = &fdoName{name: cmp.Or(f.linkage, f.name), start: cmp.Or(f.start, a.starts[f.id])}
		// Names for people are none that clang knows, and Go's compiler reads other profiles.
		if !linkerName().MatchString(n.name) || a.golang[f.object] && slices.Contains(goFiles, path.Ext(f.file)) {
			n.start, n.name = 0, ""
		}
		if at := strings.IndexByte(n.name, '.'); at > 0 {
			n.name = n.name[:at]
		}
		a.of[f] = n
	}
	return n
}

// linkerName matches what the format can hold as a name: it ends with a blank or a colon, and
// other characters in its first place begin comments, contexts and numbers.
var linkerName = lazyregexp.New(`^[\pL_$.][^\s\v\pC:(<]*$`)

func (a *autofdo) sample(s *sample) error {
	v := s.values[0]
	if len(s.path) == 0 {
		a.lost += v
		return nil
	}
	for i, n := range s.path[:len(s.path)-1] {
		if f, at, whole := a.find(&a.e.locations[n], 0); f != nil && whole {
			if callee := a.named(a.e.locations[s.path[i+1]].levels[0].function); callee.name != "" {
				call := fdoCall{at, callee.name}
				f.targets[call] += min(v, math.MaxInt64-f.targets[call]) // recursive calls count several times
			}
		}
	}
	f, at, whole := a.find(&a.e.locations[s.path[len(s.path)-1]], v)
	if f == nil {
		a.lost += v
		return nil
	}
	if !whole {
		a.outside += v
	}
	f.lines[at] += v
	return nil
}

// find returns the innermost function at a location and the place in it, after adding a
// value to the totals of all levels. It is nil if too little is known of the outermost, and
// whole is false if the level is another one because too little is known of those inside.
func (a *autofdo) find(l *location, v int64) (f *fdoFunction, at fdoPlace, whole bool) {
	for i := range l.levels {
		level := &l.levels[i]
		n := a.named(level.function)
		if n.start == 0 || level.line == 0 {
			return f, at, false
		}
		if f == nil {
			f = child(a.functions, n.name)
		} else {
			f = child(f.calls, fdoCall{at, n.name})
		}
		f.total += v
		at = fdoPlace{(level.line - n.start) & 0xffff, a.base(l.object, level.discriminator)} // as compilers have it
	}
	return f, at, true
}

func child[K comparable](of map[K]*fdoFunction, key K) *fdoFunction {
	f := of[key]
	if f == nil {
		f = &fdoFunction{lines: map[fdoPlace]int64{}, calls: map[fdoCall]*fdoFunction{}, targets: map[fdoCall]int64{}}
		of[key] = f
	}
	return f
}

// write writes the lines of a function, indented by its depth, then what was inlined.
func (f *fdoFunction) write(out *bufio.Writer, depth int) {
	indent := strings.Repeat(" ", depth)
	targets := slices.SortedFunc(maps.Keys(f.targets), compareCalls)
	for _, c := range targets {
		f.lines[c.fdoPlace] += 0 // so that it is there
	}
	for _, at := range slices.SortedFunc(maps.Keys(f.lines), comparePlaces) {
		fmt.Fprintf(out, "%s%s: %d", indent, at, f.lines[at])
		for ; len(targets) > 0 && targets[0].fdoPlace == at; targets = targets[1:] {
			fmt.Fprintf(out, " %s:%d", targets[0].name, f.targets[targets[0]])
		}
		fmt.Fprintln(out)
	}
	for _, c := range slices.SortedFunc(maps.Keys(f.calls), compareCalls) {
		fmt.Fprintf(out, "%s%s: %s:%d\n", indent, c.fdoPlace, c.name, f.calls[c].total)
		f.calls[c].write(out, depth+1)
	}
}

// String is a place as profiles write it.
func (p fdoPlace) String() string {
	if p.discriminator == 0 {
		return strconv.FormatInt(p.offset, 10)
	}
	return fmt.Sprintf("%d.%d", p.offset, p.discriminator)
}

func comparePlaces(a, b fdoPlace) int {
	return cmp.Or(cmp.Compare(a.offset, b.offset), cmp.Compare(a.discriminator, b.discriminator))
}

func compareCalls(a, b fdoCall) int {
	return cmp.Or(comparePlaces(a.fdoPlace, b.fdoPlace), strings.Compare(a.name, b.name))
}
