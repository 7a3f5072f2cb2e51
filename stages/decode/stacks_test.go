package decode

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Stacks that differ in any way have different numbers; equal stacks share a number and keep their
// content.
func TestStacks(t *testing.T) {
	words := []uint64{3, 2, 1}
	differ := []RawStack{
		{Words: words}, {Words: words[:2]}, {Words: words[1:]}, {Words: words, Kernel: 1}, {Words: words, Kernel: 2},
		{Words: words, Exact: []int32{1}}, {Words: words, ByFrame: []int32{1}}, {Words: words, Exact: []int32{0, 2}, ByFrame: []int32{1, 2}},
		{Words: words, Reason: ReasonContext}, {Words: words, Callers: CallersChained}, {Words: words, Returns: true},
		{Words: words, OMPState: -1}, {}, {OMPState: -1}, {Reason: ReasonContext}, {Words: []uint64{3, 3, 2, 1}},
	}
	var s Stacks
	for round := range 2 {
		for i := range differ {
			if n := s.Intern(&differ[i]); n != int32(i) {
				t.Errorf("round %d: stack %d has number %d", round, i, n)
			}
		}
	}
	want := slices.Clone(differ)
	for i := range want {
		want[i].Words = slices.Clone(want[i].Words)
	}
	words[0] = 9 // the memory belongs to the caller, who may change it
	if d := cmp.Diff(want, s.Expanded()); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(want, StacksOf(want...).Expanded()); d != "" {
		t.Error(d)
	}
}

// Each added stack has a number of its own. Intern finds the first of equal stacks, if they have
// neither Java nor OpenMP frames.
func TestStacksAdd(t *testing.T) {
	java := RawStack{Words: []uint64{2, 1}, Java: []JavaFrame{{Method: 7, BCI: 3}}, OMPState: -1}
	omp := RawStack{Words: []uint64{2, 1}, OMP: []uint64{}, OMPState: 5}
	plain := RawStack{Words: []uint64{2, 1}, OMPState: -1}
	leaf := func(s RawStack, words ...uint64) RawStack { s.Words = words; return s }
	s := StacksOf(java, plain, omp, plain)
	for i, from := range []int32{0, 1, 4} {
		if n := s.AddLeaf(from, 8); n != int32(4+i) {
			t.Errorf("the leaf of stack %d is number %d", from, n)
		}
	}
	want := []RawStack{java, plain, omp, plain, leaf(java, 8, 2, 1), leaf(plain, 8, 2, 1), leaf(java, 8, 8, 2, 1)}
	if d := cmp.Diff(want, s.Expanded()); d != "" {
		t.Error(d)
	}
	if n := s.Intern(&plain); n != 1 {
		t.Errorf("stack 1 is found as %d", n)
	}
	if s.Nodes() != 4 {
		t.Errorf("%d nodes", s.Nodes())
	}
	var none *Stacks
	if none.Len() != 0 || none.Nodes() != 0 || len(none.Words()) != 0 || len(none.Expanded()) != 0 {
		t.Error("a list that is nil is not empty")
	}
}

// Stacks are returned as they were added, equal stacks have one number, callers come before their
// callees, and a caller has one node for a word.
func TestStacksRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	words := func() (list []uint64) {
		for range r.IntN(12) {
			list = append(list, uint64(r.IntN(3))<<(8*r.IntN(8)))
		}
		return list
	}
	places := func(n int) (list []int32) {
		for i := range n {
			if r.IntN(20) == 0 {
				list = append(list, int32(i))
			}
		}
		return list
	}
	var s Stacks
	var out RawStack
	numbers := map[string]int32{}
	for range 50000 {
		in := RawStack{Words: words(), OMPState: -1, Callers: Callers(r.IntN(2)), Reason: []string{"", ReasonChainLimit}[r.IntN(2)]}
		n := len(in.Words)
		in.Kernel, in.Exact, in.ByFrame = min(n, r.IntN(3)), places(n), places(n)
		key := fmt.Sprint(in)
		number := s.Intern(&in)
		if known, ok := numbers[key]; ok && known != number || !ok && int(number) != len(numbers) {
			t.Fatalf("%s has number %d", key, number)
		}
		numbers[key] = number
		if s.Stack(number, &out); fmt.Sprint(out) != key {
			t.Fatalf("%s comes out as %v", key, out)
		}
	}
	type node struct {
		word   uint64
		marks  WordMarks
		caller WordNo
	}
	nodes := map[node]bool{}
	for n := range WordNo(s.Nodes()) {
		var o node
		if o.word, o.marks, o.caller = s.Node(n); o.caller >= n || nodes[o] {
			t.Fatalf("node %d is %v, its caller %d", n, o, o.caller)
		}
		nodes[o] = true
	}
}

// Different words with equal hashes get different nodes.
func TestStacksCollision(t *testing.T) {
	var tree wordTree
	tree.merge(root(0), []uint64{1}, nil)
	other := tree.merge(root(0), []uint64{2}, nil)
	tree.insert(entryOf(tree.hash(&wordNode{word: 3, caller: root(0)}), int(other))) // as if node 2 had this hash
	node := tree.merge(root(0), []uint64{3}, nil)
	if again := tree.merge(root(0), []uint64{3}, nil); node == other || again != node || tree.nodes.Len() != 3 {
		t.Errorf("words %v have the nodes %d, %d, %d", tree.nodes, other, node, again)
	}
}
