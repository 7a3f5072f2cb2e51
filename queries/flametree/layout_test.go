package flametree

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// stack is a stack from the root, without <Total>, with its value.
type stack struct {
	names []string
	value int64
}

// drawStacks draws stacks of the functions a1, a2, b1 and b2 of the load objects liba and libb.
func drawStacks(t *rapid.T) (stacks []stack) {
	for range rapid.IntRange(1, 30).Draw(t, "stacks") {
		stacks = append(stacks, stack{rapid.SliceOfN(rapid.StringMatching("[ab][12]"), 0, 6).Draw(t, "stack"), rapid.Int64Range(0, 5).Draw(t, "value")})
	}
	return stacks
}

func objectOf(name string) string { return "lib" + name[:1] }

// layoutOf returns the layout of the tree of stacks.
func layoutOf(stacks []stack) *Layout[int64] {
	tree := New(0)
	for _, s := range stacks {
		at := tree.Child(-1, tree.Intern(Function{Name: "<Total>", Kind: "artificial"}))
		tree.Nodes[at].Value += s.value
		for _, name := range s.names {
			at = tree.Child(at, tree.Intern(Function{Name: name, LoadObject: objectOf(name), Kind: "normal"}))
			tree.Nodes[at].Value += s.value
		}
		tree.Nodes[at].Exclusive += s.value
	}
	return tree.Layout()
}

// paths returns the values of frames by path, and checks that positions and sums are right.
func paths(t *rapid.T, l *Layout[int64], frames []Frame[int64]) map[string]Frame[int64] {
	all, at := map[string]Frame[int64]{}, make([]string, len(frames))
	ends := map[int32]int64{}
	for n, f := range frames {
		if f.More > 0 {
			at[n] = at[f.Parent] + fmt.Sprintf(";<%d more>", f.More)
		} else if at[n] = l.Functions[f.Function].Name; f.Parent >= 0 {
			at[n] = at[f.Parent] + ";" + at[n]
		}
		if _, twice := all[at[n]]; twice {
			t.Fatalf("%s is there twice", at[n])
		}
		all[at[n]] = f
		if f.Parent >= 0 {
			if p := frames[f.Parent]; f.Start < max(p.Start, ends[f.Parent]) || f.Start+f.Value > p.Start+p.Value || f.Level != p.Level+1 || f.Last > p.Last {
				t.Fatalf("%s is at %d, %d wide, its caller %+v", at[n], f.Start, f.Value, p)
			}
			ends[f.Parent] = f.Start + f.Value
		}
	}
	return all
}

// A sub-tree and a window have the frames of the complete layout that are in them and wide enough; the frames that are
// left out are summed.
func TestVisible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := layoutOf(drawStacks(t))
		whole := paths(t, l, l.Frames)
		root := l.Frames[rapid.IntRange(0, len(l.Frames)-1).Draw(t, "root")]
		in := Window{float64(root.Start), float64(root.Start + root.Value)}
		least := rapid.Float64Range(0, 8).Draw(t, "least")
		shown := paths(t, l, l.Visible(in, least))
		for path, f := range whole {
			overlaps := f.Level == 0 || in == l.Whole() || float64(f.Start) < in.Until && float64(f.Start+f.Value) > in.From
			got, is := shown[path]
			if want := overlaps && (f.Level == 0 || float64(f.Value) >= least); want != is {
				t.Fatalf("%s of %d in %v from %g: shown is %t", path, f.Value, in, least, is)
			}
			if is && (got.Value != f.Value || got.Exclusive != f.Exclusive || got.Start != f.Start || got.ID != f.ID) {
				t.Fatalf("%s is %+v, not %+v", path, got, f)
			}
		}
		for path, f := range shown {
			if _, is := whole[path]; !is && (f.More == 0 || float64(f.Value) < least) {
				t.Fatalf("%s is shown", path)
			}
		}
		if least == 0 && in == l.Whole() && len(shown) != len(whole) {
			t.Fatalf("%d of %d frames", len(shown), len(whole))
		}
		if n := l.Find(root.ID); l.Frames[n] != root {
			t.Fatalf("%x is %d", root.ID, n)
		}
	})
}

// What a search finds and the sums of groups equal the sums over stacks, in which each stack counts once.
func TestSums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stacks := drawStacks(t)
		l := layoutOf(stacks)
		g := GroupBy(l, "load-object", nil)
		for i, name := range g.Names {
			var exclusive, inclusive int64
			for _, s := range stacks {
				if slices.ContainsFunc(s.names, func(n string) bool { return objectOf(n) == name }) {
					inclusive += s.value
				}
				if len(s.names) > 0 && objectOf(s.names[len(s.names)-1]) == name {
					exclusive += s.value
				}
			}
			if g.Exclusive[i] != exclusive || g.Inclusive[i] != inclusive {
				t.Fatalf("%s has %d and %d, not %d and %d", name, g.Exclusive[i], g.Inclusive[i], exclusive, inclusive)
			}
		}
		hits, outermost := l.Search(func(f Function) bool { return f.LoadObject == "liba" })
		found, sum, want := map[string]bool{}, int64(0), int64(0)
		for _, n := range outermost {
			sum += l.Frames[n].Value
		}
		for _, s := range stacks {
			once := false
			for i, name := range s.names {
				if objectOf(name) == "liba" {
					found[strings.Join(s.names[:i+1], ";")], once = true, true
				}
			}
			if once {
				want += s.value
			}
		}
		if len(hits) != len(found) || sum != want || !slices.IsSorted(hits) {
			t.Fatalf("%d hits with %d, want %d with %d", len(hits), sum, len(found), want)
		}
	})
}

// Without the recursion of a function, each stack ends as before, and lacks what was between its first and last call.
func TestFold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stacks := drawStacks(t)
		folded := slices.Clone(stacks)
		for i, s := range folded {
			first, last := slices.Index(s.names, "a1"), -1
			for k, name := range s.names {
				if name == "a1" {
					last = k
				}
			}
			if first >= 0 {
				folded[i].names = slices.Delete(slices.Clone(s.names), first, last)
			}
		}
		got, want := Fold(layoutOf(stacks), "a1"), layoutOf(slices.DeleteFunc(folded, func(s stack) bool { return s.value == 0 && len(folded) > 1 }))
		a, b := paths(t, got, got.Frames), map[string]Frame[int64]{}
		for path, f := range paths(t, want, want.Frames) {
			b[path] = f
		}
		for path, f := range a {
			if f.Value != b[path].Value || f.Exclusive != b[path].Exclusive {
				t.Fatalf("%s has %d and %d, not %d and %d", path, f.Value, f.Exclusive, b[path].Value, b[path].Exclusive)
			}
		}
	})
}

// If a side would have too many frames, those with the lowest values are there as sums.
func TestMostSideFrames(t *testing.T) {
	var stacks []stack
	for i := range 200 {
		stacks = append(stacks, stack{[]string{fmt.Sprintf("a%d", i%7), fmt.Sprintf("b%d", i%11), fmt.Sprintf("a%d", i)}, int64(i + 1)})
	}
	l := layoutOf(stacks)
	s := sideOf(l, Side{Side: "inverted"}, 100)
	if len(s.Frames) > 100 || s.LeftOut() == 0 || s.Total() != l.Total() {
		t.Errorf("%d frames, %d left out, %d of %d", len(s.Frames), s.LeftOut(), s.Total(), l.Total())
	}
	for n, f := range s.Frames {
		sum := f.Exclusive
		for m := int32(n) + 1; m <= f.Last; m = s.Frames[m].Last + 1 {
			sum += s.Frames[m].Value
		}
		if sum != f.Value {
			t.Errorf("frame %d has %d, its parts %d", n, f.Value, sum)
		}
	}
}

// Names have the packages and namespaces that their languages give them.
func TestPackages(t *testing.T) {
	for name, want := range map[string][2]string{
		"main":                {"", ""},
		"runtime.goexit.abi0": {"runtime", ""},
		"cmd/compile/internal/ssa.(*regAllocState).regalloc": {"cmd/compile/internal/ssa", ""},
		"slices.SortFunc[go.shape.[]int].func1":              {"slices", ""},
		"github.com/a/b.v2.F":                                {"github.com/a/b", ""},
		"type:.eq.main.T":                                    {"type:", ""},
		"f.part.0":                                           {"", ""},
		"f.cold":                                             {"", ""},
		"f [clone .constprop.0]":                             {"", ""},
		"f(int)":                                             {"", ""},
		"ns::f(std::string)":                                 {"", "ns"},
		"a::b::C::operator()(int) const":                     {"", "a::b::C"},
		"std::vector<a::b, c::d>::push_back(a::b&&)":         {"", "std::vector"},
		"void std::sort<x::y>(x::y, x::y)":                   {"", "std"},
		"(anonymous namespace)::run(int)":                    {"", "(anonymous namespace)"},
		"a::(anonymous namespace)::run(int)":                 {"", "a::(anonymous namespace)"},
		"core::fmt::write":                                   {"", "core::fmt"},
		"<alloc::vec::Vec<T> as core::ops::Drop>::drop":      {"", "alloc::vec::Vec"},
		"std::ostream& std::operator<< <char>(char)":         {"", "std"},
	} {
		if got := [2]string{Package(Function{Name: name, Kind: "normal"}), Namespace(name)}; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got := Package(Function{Name: "java.util.HashMap.put", Kind: "java"}); got != "java.util" {
		t.Errorf("Java: %q", got)
	}
}

// The page computes the same ids (web/test/flame.test.mjs).
func TestID(t *testing.T) {
	tree := New(0)
	root := tree.Child(-1, tree.Intern(Function{Name: "<Total>", LoadObject: "<Total>", Kind: "artificial"}))
	tree.Child(root, tree.Intern(Function{Name: "größe\xff(int)", LoadObject: "libx.so", Module: "d/x.cc", Kind: "normal"}))
	ids := []string{}
	for _, f := range tree.Layout().Frames {
		ids = append(ids, fmt.Sprintf("%016x", f.ID))
	}
	if want := []string{"ee5ef610845df6e9", "de5ebf2b84f74e4f"}; !slices.Equal(ids, want) {
		t.Errorf("%q, want %q", ids, want)
	}
}
