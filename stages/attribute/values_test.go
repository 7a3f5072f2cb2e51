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
	"stackmill/stages/symbolize"
	"stackmill/stages/unwind"
)

// A program whose functions are the letters a to e, one location each.
func letters() *symbolize.Program {
	p := &symbolize.Program{Objects: []symbolize.Object{{ID: 1}}, Modules: []symbolize.Module{{ID: 1}}}
	for i := range 5 {
		p.Functions = append(p.Functions, symbolize.Function{ID: int64(i), Name: string(rune('a' + i))})
		p.Locations = append(p.Locations, symbolize.Location{ID: int64(i), Function: symbolize.FunctionNo(i), File: "f.c", Line: int32(i + 1)})
	}
	return p
}

// valuesOf computes the values of stacks written root first, such as "abca",
// whose n-th has the value 1<<n.
func valuesOf(stacks ...string) (*symbolize.Program, *Values) {
	p := letters()
	recorded := NewStacks()
	sums := NewSums([]schema.Metric{{Name: "m"}})
	for i, s := range stacks {
		var frames []symbolize.LocationNo
		for _, c := range s {
			frames = append(frames, symbolize.LocationNo(c-'a'))
		}
		addStack(recorded, everyMode(frames...))
		sums.stack(RecordedNo(i), 0).add(1 << i)
	}
	v := computed(p, recorded, sums)
	if len(v.Modes) != 1 {
		panic("equal modes were computed apart")
	}
	return p, v
}

// computed computes values, one part after the other.
func computed(p *symbolize.Program, stacks *Stacks, sums *Sums) *Values {
	v, err := Compute(p, stacks, sums, func(run ...func() error) error {
		for _, f := range run {
			if err := f(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		panic(err)
	}
	return v
}

// addStack adds a stack, given what each mode shows of it, root first.
func addStack(s *Stacks, shown map[unwind.Mode][]symbolize.LocationNo) {
	r := Recorded{}
	for i, more := 0, true; more; i++ {
		f := unwind.TreeFrame{Own: symbolize.None}
		more = false
		for m := range f.Shown {
			f.Shown[m] = symbolize.None
			if frames := shown[unwind.Mode(m)]; i < len(frames) {
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

// everyMode shows the same in every mode.
func everyMode(frames ...symbolize.LocationNo) map[unwind.Mode][]symbolize.LocationNo {
	return map[unwind.Mode][]symbolize.LocationNo{unwind.User: frames, unwind.Expert: frames, unwind.Machine: frames}
}

func name(f symbolize.FunctionNo) string {
	if f == symbolize.None {
		return "<Total>"
	}
	return string(rune('a' + f))
}

func (v *Values) callText(mode int) []string {
	var rows []string
	for _, c := range v.callRows(mode) {
		rows = append(rows, fmt.Sprintf("%s %s %s %d", name(c.function), relations[c.relation], name(c.other), c.attributed))
	}
	slices.Sort(rows)
	return rows
}

type callRow struct {
	function, other symbolize.FunctionNo
	relation        int
	attributed      int64
}

// callRows are the calls of a mode of values of one metric.
func (v *Values) callRows(mode int) (rows []callRow) {
	for n, p := range v.Pairs {
		if at := n*v.width + mode; v.Calls.Seen[at] {
			rows = append(rows, callRow{p.Callee, p.Caller, caller, v.Calls.Callers[at]}, callRow{p.Caller, p.Callee, callee, v.Calls.Callees[at]})
		}
	}
	for n := range v.program.Functions {
		if at := n*v.width + mode; v.Calls.Selves[at] {
			rows = append(rows, callRow{symbolize.FunctionNo(n), symbolize.FunctionNo(n), self, v.Functions.Exclusive[at]})
		}
	}
	return rows
}

func TestRecursionCountsOnce(t *testing.T) {
	_, v := valuesOf("abab", "ab") // 1, 2
	if v.Total[0] != 3 || v.Functions.Inclusive[0] != 3 || v.Functions.Inclusive[1] != 3 {
		t.Errorf("total %d, inclusive %v", v.Total[0], v.Functions.Inclusive)
	}
	if v.Functions.Exclusive[0] != 0 || v.Functions.Exclusive[1] != 3 {
		t.Errorf("exclusive %v", v.Functions.Exclusive)
	}
	want := []string{
		"<Total> callee a 3",
		"a callee b 3",
		"a caller <Total> 2", // of the first stack, the leaf-most a is called by b
		"a caller b 1",
		"b callee a 0", // a neighbour, though not of the leaf-most b
		"b caller a 3",
		"b self b 3",
	}
	if diff := cmp.Diff(want, v.callText(0)); diff != "" {
		t.Error(diff)
	}
}

func TestEmptyStackCountsForTotalOnly(t *testing.T) {
	_, v := valuesOf("", "a")
	if v.Total[0] != 3 || v.Functions.Inclusive[0] != 2 || v.Own[0].Value != 1 || v.All[0].Value != 3 {
		t.Errorf("total %d, functions %v, root %v and %v", v.Total[0], v.Functions.Inclusive, v.Own[0], v.All[0])
	}
}

func TestModesApart(t *testing.T) {
	p := letters()
	recorded := NewStacks()
	addStack(recorded, map[unwind.Mode][]symbolize.LocationNo{unwind.User: {0}, unwind.Expert: {1}, unwind.Machine: {1}})
	sums := NewSums([]schema.Metric{{Name: "m"}})
	sums.stack(0, 0).add(7)
	v := computed(p, recorded, sums)
	want := []Mode{User | User.Inlined(), Expert | Machine | (Expert | Machine).Inlined()}
	if !slices.Equal(v.Modes, want) {
		t.Fatalf("modes %v", v.Modes)
	}
	// By function: user, machine.
	if got := v.Functions.Exclusive[:4]; !slices.Equal(got, []int64{7, 0, 0, 7}) {
		t.Errorf("exclusive %v", got)
	}
}

// e was inlined into d, and d into c: with inlined functions the stack "ac" is
// "acde", and its instruction counts for each level's line (S10).
func TestInlinedFunctions(t *testing.T) {
	p := letters()
	p.Inlines = make([][]symbolize.Level, 5)
	p.Inlines[2] = []symbolize.Level{{Function: 3, File: "d.h", Line: 30}, {Function: 4, File: "e.h", Line: 40}}
	recorded := NewStacks()
	addStack(recorded, everyMode(0, 2))
	sums := NewSums([]schema.Metric{{Name: "m"}})
	sums.stack(0, 0).add(7)
	v := computed(p, recorded, sums)
	if !slices.Equal(v.Modes, []Mode{Plain, Plain.Inlined()}) {
		t.Fatalf("modes %v", v.Modes)
	}
	want := []string{
		"<Total> callee a 7", "a callee c 7", "a caller <Total> 7",
		"c callee d 7", "c caller a 7", "d callee e 7", "d caller c 7", "e caller d 7", "e self e 7",
	}
	if diff := cmp.Diff(want, v.callText(1)); diff != "" {
		t.Error(diff)
	}
	// By function and mode.
	if want := []int64{0, 0, 0, 0, 7, 0, 0, 0, 0, 7}; !slices.Equal(v.Functions.Exclusive, want) {
		t.Errorf("exclusive %v", v.Functions.Exclusive)
	}
	var nodes [2]int
	for n := range v.Tree.Nodes {
		for mode := range nodes {
			if v.All[n*v.width+mode].Value == 7 {
				nodes[mode]++
			}
		}
	}
	if nodes != [2]int{3, 5} {
		t.Errorf("%v nodes", nodes)
	}
	lines := []LineKey{{0, "f.c", 1}, {2, "f.c", 3}, {3, "d.h", 30}, {4, "e.h", 40}}
	if diff := cmp.Diff(lines, v.LineKeys, cmpopts.SortSlices(func(a, b LineKey) int { return int(a.Line - b.Line) })); diff != "" {
		t.Error(diff)
	}
	for n, k := range v.LineKeys {
		plain, inlined := v.Lines.Exclusive[n*2] == 7, v.Lines.Exclusive[n*2+1] == 7
		if plain != (k.File == "f.c" && k.Line == 3) || inlined != (k.File == "e.h") {
			t.Errorf("exclusive by line %v", v.Lines.Exclusive)
		}
	}
	if len(v.PCs.Inclusive) != len(p.Locations) {
		t.Errorf("instructions have values in modes with inlined functions: %v", v.PCs.Inclusive)
	}
}

// The definitions of gprofng-experiment 8.2 and 8.3, one event at a time.
func TestValuesByDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stacks := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-e]{0,7}`), 1, 12, rapid.ID[string]).Draw(t, "stacks")
		p, v := valuesOf(stacks...)
		for f := range p.Functions {
			letter := name(symbolize.FunctionNo(f))
			var exclusive, inclusive, callers, below int64
			for i, s := range stacks {
				if strings.HasSuffix(s, letter) {
					exclusive += 1 << i
				}
				if strings.Contains(s, letter) {
					inclusive += 1 << i
				}
			}
			if v.Functions.Exclusive[f] != exclusive || v.Functions.Inclusive[f] != inclusive {
				t.Fatalf("%s: exclusive %d, inclusive %d; want %d, %d", letter, v.Functions.Exclusive[f], v.Functions.Inclusive[f], exclusive, inclusive)
			}
			for _, c := range v.callRows(0) {
				if c.function != symbolize.FunctionNo(f) {
					continue
				}
				if c.relation == caller {
					callers += c.attributed
				} else {
					below += c.attributed
				}
				if want := attributedByDefinition(stacks, letter, c); c.attributed != want {
					t.Fatalf("%s %s %s: %d, want %d", letter, relations[c.relation], name(c.other), c.attributed, want)
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
		case c.relation == self && k == len(s)-1,
			c.relation == callee && k+1 < len(s) && s[k+1:k+2] == name(c.other),
			c.relation == caller && k == 0 && c.other == symbolize.None,
			c.relation == caller && k > 0 && s[k-1:k] == name(c.other):
			sum += 1 << i
		}
	}
	return sum
}
