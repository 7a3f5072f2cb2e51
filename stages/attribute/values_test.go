package attribute

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"stackmill/schema"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/program"
	"stackmill/stages/stacktree"
)

// letters is a program whose functions are the letters a to e, with one location each.
func letters() *program.Program {
	p := &program.Program{Objects: []program.Object{{ID: 1}}, Modules: []program.Module{{ID: 1}}}
	for i := range 5 {
		p.Functions = append(p.Functions, program.Function{ID: int64(i), Name: string(rune('a' + i))})
		p.Locations.Add(program.Location{Function: program.FunctionNo(i), Place: funcinfo.Place{File: "f.c", Line: int32(i + 1)}})
	}
	return p
}

// inlining is a program in which e is inlined into d, and d into c.
func inlining() *program.Program {
	p := letters()
	p.Inlines = make([][]program.Level, 5)
	p.Inlines[2] = []program.Level{{Function: 3, Place: funcinfo.Place{File: "d.h", Line: 30}}, {Function: 4, Place: funcinfo.Place{File: "e.h", Line: 40}}}
	return p
}

// valuesOf computes the values of stacks written root first, such as "abca". The n-th stack has the
// value 1<<n.
func valuesOf(stacks ...string) (*program.Program, *testValues) {
	recorded := NewStacks()
	sums := NewSums([]schema.Metric{{Name: "m"}})
	for i, s := range stacks {
		addStack(recorded, everyMode(locationsOf(s)...))
		sums.At(RecordedStackNo(i), 0).Add(1 << i)
	}
	p := letters()
	c := computeValues(p, recorded, sums)
	if len(c.Views) != 1 {
		panic("equal modes were computed apart")
	}
	return p, c
}

func locationsOf(stack string) (list []program.LocationNo) {
	for _, c := range stack {
		list = append(list, program.LocationNo(c-'a'))
	}
	return list
}

// testValues holds the values of one metric.
type testValues struct {
	*CallTree
	values   *MetricValues
	code     []*codeValues // by view
	own, all grid          // by node of the tree and view
}

func computeValues(p *program.Program, stacks *Stacks, sums *Sums) *testValues {
	stacks.Renumber(stacks.OrderNodes(), stacks.OrderFrames(asTheyAre(p)))
	c := &testValues{CallTree: NewCallTree(NewStackViews(p, stacks, sums))}
	metrics := []int{0}
	passing := c.StackViews.inclusiveByNode(metrics)
	for i := range c.Views {
		v := &c.Views[i]
		c.code = append(c.code, c.StackViews.countCode(v, passing, c.StackViews.exclusiveByFrame(v, metrics)))
	}
	c.own, c.all = newGrid(c.Len(), rowLayout{n: len(c.Views)}), newGrid(c.Len(), c.ends.layout(len(c.Views)))
	c.values = c.CallTree.functionValues(0, c.all)
	for n := range nodeNo(c.Len()) {
		for view := range c.Views {
			c.own.row(int(n))[view] = c.CallTree.exclusiveAt(c.all, n, view)
		}
	}
	return c
}

// addStack adds a stack, given the frames of each mode, root first.
func addStack(s *Stacks, shown map[stacktree.Mode][]program.LocationNo) {
	r := RecordedStack{}
	for i, more := 0, true; more; i++ {
		f := stacktree.Frame{Own: program.None}
		more = false
		for m := range f.Shown {
			f.Shown[m] = program.None
			if frames := shown[stacktree.Mode(m)]; i < len(frames) {
				f.Shown[m], more = frames[i], true
			}
		}
		if !more {
			break
		}
		r.Node = s.Tree.Add(r.Node, &f)
		for m, location := range f.Shown {
			if location >= 0 {
				r.Leaf[m] = r.Node
			}
		}
	}
	s.Recorded = append(s.Recorded, r)
}

// everyMode returns a stack whose frames are the same in every mode.
func everyMode(frames ...program.LocationNo) map[stacktree.Mode][]program.LocationNo {
	return map[stacktree.Mode][]program.LocationNo{stacktree.User: frames, stacktree.Expert: frames, stacktree.Machine: frames}
}

func name(f program.FunctionNo) string {
	if f == program.None {
		return "<Total>"
	}
	return string(rune('a' + f))
}

func (c *testValues) callText(view int) []string {
	var rows []string
	for _, c := range c.callRows(view) {
		rows = append(rows, fmt.Sprintf("%s %s %s %d", name(c.function), relationNames[c.relation], name(c.other), c.attributed))
	}
	slices.Sort(rows)
	return rows
}

type callRow struct {
	function, other program.FunctionNo
	relation        int
	attributed      int64
}

// functions returns the values of functions in a view.
func (c *testValues) functions(view int) tally[program.FunctionNo] {
	return inView([]*MetricValues{c.values}, view, func(v *MetricValues) tally[program.FunctionNo] { return v.Functions })
}

// callRows returns the calls of a view.
func (c *testValues) callRows(view int) (rows []callRow) {
	for n, p := range c.Pairs {
		if callers, callees, ok := c.values.Calls.neighborValues(n, view); ok {
			rows = append(rows, callRow{p.Callee, p.Caller, relationCaller, callers}, callRow{p.Caller, p.Callee, relationCallee, callees})
		}
	}
	for n, exclusive := range c.functions(view).Exclusive.values {
		if exclusive > 0 {
			rows = append(rows, callRow{program.FunctionNo(n), program.FunctionNo(n), relationSelf, exclusive})
		}
	}
	return rows
}

func TestRecursionCountsOnce(t *testing.T) {
	_, c := valuesOf("abab", "ab") // 1, 2
	v := c.functions(0)
	if c.values.Total[0] != 3 || v.inclusive(0)[0] != 3 || v.inclusive(1)[0] != 3 {
		t.Errorf("total %d, inclusive %v", c.values.Total, v.passed.values)
	}
	if v.Exclusive.values[0] != 0 || v.Exclusive.values[1] != 3 {
		t.Errorf("exclusive %v", v.Exclusive)
	}
	want := []string{
		"<Total> callee a 3",
		"a callee b 3",
		"a caller <Total> 2", // of the first stack, the leaf-most a is called by b
		"a caller b 1",
		"b callee a 0", // a neighbor, though not of the leaf-most b
		"b caller a 3",
		"b self b 3",
	}
	if diff := cmp.Diff(want, c.callText(0)); diff != "" {
		t.Error(diff)
	}
}

func TestEmptyStackCountsForTotalOnly(t *testing.T) {
	_, c := valuesOf("", "a")
	if v := c.functions(0); c.values.Total[0] != 3 || v.inclusive(0)[0] != 2 || c.own.values[0] != 1 || c.all.values[0] != 3 {
		t.Errorf("total %d, functions %v, root %v and %v", c.values.Total, v.passed.values, c.own.values[0], c.all.values[0])
	}
}

func TestModesApart(t *testing.T) {
	recorded := NewStacks()
	addStack(recorded, map[stacktree.Mode][]program.LocationNo{stacktree.User: {0}, stacktree.Expert: {1}, stacktree.Machine: {1}})
	sums := NewSums([]schema.Metric{{Name: "m"}})
	sums.At(0, 0).Add(7)
	c := computeValues(letters(), recorded, sums)
	if len(c.Views) != 2 || c.Views[0].modes != User|User.Inlined() || c.Views[1].modes != Expert|Machine|(Expert|Machine).Inlined() {
		t.Fatalf("views %v", c.Views)
	}
	for view, want := range [][]int64{{7, 0, 0, 0, 0}, {0, 7, 0, 0, 0}} {
		if got := c.functions(view).Exclusive.values; !slices.Equal(got, want) {
			t.Errorf("view %d: exclusive %v", view, got)
		}
	}
}

// e is inlined into d, and d into c: with inlined functions the stack "ac" is "acde", and its
// instruction counts for each level's line (S10).
func TestInlinedFunctions(t *testing.T) {
	recorded := NewStacks()
	addStack(recorded, everyMode(0, 2))
	sums := NewSums([]schema.Metric{{Name: "m"}})
	sums.At(0, 0).Add(7)
	p := inlining()
	c := computeValues(p, recorded, sums)
	if len(c.Views) != 2 || c.Views[0].modes != Plain || c.Views[1].modes != Plain.Inlined() {
		t.Fatalf("views %v", c.Views)
	}
	want := []string{
		"<Total> callee a 7", "a callee c 7", "a caller <Total> 7",
		"c callee d 7", "c caller a 7", "d callee e 7", "d caller c 7", "e caller d 7", "e self e 7",
	}
	if diff := cmp.Diff(want, c.callText(1)); diff != "" {
		t.Error(diff)
	}
	plain, inlined := c.functions(0).Exclusive.values, c.functions(1).Exclusive.values
	if !slices.Equal(plain, []int64{0, 0, 7, 0, 0}) || !slices.Equal(inlined, []int64{0, 0, 0, 0, 7}) {
		t.Errorf("exclusive %v, with inlined functions %v", plain, inlined)
	}
	for view, want := range [][]int64{{7, 7, 7, 0, 0}, {7, 7, 7, 7, 7}} {
		for n, all := range want {
			if c.all.row(n)[view] != all {
				t.Errorf("node %d of view %d: %v", n, view, c.all.row(n))
			}
		}
	}
	lines := []LineKey{{0, "f.c", 1}, {2, "f.c", 3}, {3, "d.h", 30}, {4, "e.h", 40}}
	if diff := cmp.Diff(lines, c.LineKeys, cmpopts.SortSlices(func(a, b LineKey) int { return int(a.Line - b.Line) })); diff != "" {
		t.Error(diff)
	}
	for n, k := range c.LineKeys {
		plain, inlined := c.code[0].Lines.Exclusive.values[n] == 7, c.code[1].Lines.Exclusive.values[n] == 7
		if plain != (k.File == "f.c" && k.Line == 3) || inlined != (k.File == "e.h") {
			t.Errorf("exclusive of %v: %v, with inlined functions %v", k, plain, inlined)
		}
	}
	if len(c.code[0].PCs.last) != p.Locations.Len() || len(c.code[1].PCs.last) != 0 {
		t.Errorf("instructions have values in modes with inlined functions: %v", c.code[1].PCs.passed)
	}
}

// The definitions of gprofng-experiment 8.2 and 8.3, one event at a time.
func TestValuesByDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stacks := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-e]{0,7}`), 1, 12, rapid.ID[string]).Draw(t, "stacks")
		p, computed := valuesOf(stacks...)
		v := computed.functions(0)
		for f := range p.Functions {
			letter := name(program.FunctionNo(f))
			var exclusive, inclusive, callers, below int64
			for i, s := range stacks {
				if strings.HasSuffix(s, letter) {
					exclusive += 1 << i
				}
				if strings.Contains(s, letter) {
					inclusive += 1 << i
				}
			}
			if v.Exclusive.values[f] != exclusive || v.inclusive(f)[0] != inclusive {
				t.Fatalf("%s: exclusive %d, inclusive %d; want %d, %d", letter, v.Exclusive.values[f], v.inclusive(f)[0], exclusive, inclusive)
			}
			for _, c := range computed.callRows(0) {
				if c.function != program.FunctionNo(f) {
					continue
				}
				if c.relation == relationCaller {
					callers += c.attributed
				} else {
					below += c.attributed
				}
				if want := attributedByDefinition(stacks, letter, c); c.attributed != want {
					t.Fatalf("%s %s %s: %d, want %d", letter, relationNames[c.relation], name(c.other), c.attributed, want)
				}
			}
			if callers != inclusive || below != inclusive {
				t.Fatalf("%s: inclusive %d, from callers %d, self and callees %d", letter, inclusive, callers, below)
			}
		}
	})
}

func attributedByDefinition(stacks []string, f string, c callRow) int64 {
	var sum int64
	for i, s := range stacks {
		k := strings.LastIndex(s, f)
		switch {
		case k < 0:
		case c.relation == relationSelf && k == len(s)-1,
			c.relation == relationCallee && k+1 < len(s) && s[k+1:k+2] == name(c.other),
			c.relation == relationCaller && k == 0 && c.other == program.None,
			c.relation == relationCaller && k > 0 && s[k-1:k] == name(c.other):
			sum += 1 << i
		}
	}
	return sum
}

// inView returns the values of a view, by metric.
func inView[N ~int32](values []*MetricValues, view int, of func(*MetricValues) tally[N]) tally[N] {
	first := of(values[0])
	t := newTally[N](len(first.last), rowLayout{n: len(values)})
	for i := range values {
		from := of(values[i])
		for n := range len(t.last) {
			t.Exclusive.row(n)[i], t.inclusive(n)[i] = from.Exclusive.row(n)[view], from.inclusive(n)[view]
		}
	}
	return t
}
