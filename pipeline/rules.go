package pipeline

import (
	"context"
	"time"

	"stackmill/internal/ordered"
	"stackmill/stages/stacktree"
	"stackmill/stages/unwind"
)

// rulesAhead bounds how much may wait for the rules, which are slow with stacks of functions
// that they meet for the first time, and fast later.
const rulesAhead = 16

// rule does something that uses the resolver or the rules, after everything that was handed over
// before.
func (e *experiment) rule(do func()) {
	_ = e.rules.Add(do) // batch.number, processes and, at the end, grown have its error
}

// read passes stacks that were read through their stages.
func (e *experiment) read(r *unwind.StackBatch) {
	for _, s := range perStack {
		e.ruled(s.name, func() { s.run(e, r) })
	}
}

// ruled runs a stage that is run by rule, and adds how long it took.
func (e *experiment) ruled(name string, run func()) {
	began := time.Now()
	run()
	e.ruledFor = addTime(e.ruledFor, name, time.Since(began))
}

func (e *experiment) normalize(r *unwind.StackBatch) { e.unwinder.Add(r) }

// growthAhead bounds how much may wait to be added to the tree.
const growthAhead = 4

// grow adds stacks to the tree while further ones pass the rules.
func grow(ctx context.Context, tree *stacktree.Tree) *ordered.Worker[*unwind.PathBatch] {
	grower := unwind.NewTreeBuilder(tree)
	add := func(more *unwind.PathBatch) error { grower.Add(more); return nil }
	return ordered.NewWorker(ctx, growthAhead, add, nil)
}
