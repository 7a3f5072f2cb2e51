package export

import (
	"bufio"
	"io"
	"runtime"
	"testing"
)

// The tables of a thread have only what the samples of this thread need, even if other threads have many stacks.
func TestFirefoxManyThreads(t *testing.T) {
	const nodes = 1 << 16
	tree := &timedTree{}
	e := &experiment{}
	of := &function{name: "f"}
	for i := range int32(nodes) {
		tree.nodes, tree.parents, tree.locations = append(tree.nodes, i+1), append(tree.parents, -1), append(tree.locations, i)
		e.locations = append(e.locations, location{levels: []level{{function: of}}})
	}
	f := &firefoxWriter{selection: &selection{metrics: []metric{{"cpu", "ns"}}}, out: bufio.NewWriterSize(io.Discard, 16)}
	const threads = 100
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range int32(threads) {
		thread := &timedThread{tree: tree, nodes: []int32{i}, times: []int64{0}, values: []int64{1}}
		if err := newFirefoxTables(f, e, thread).write(); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if got := (after.TotalAlloc - before.TotalAlloc) / threads; got > nodes {
		t.Errorf("%d bytes for a thread with one sample", got)
	}
}
