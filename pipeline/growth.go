package pipeline

import (
	"context"

	"golang.org/x/sync/errgroup"

	"stackmill/stages/unwind"
)

// growthAhead bounds how much may wait to be added to the tree.
const growthAhead = 4

// growth adds stacks to the tree, in their order, while further ones pass the rules.
type growth struct {
	ctx    context.Context
	stacks chan *unwind.Growth
	group  errgroup.Group
	failed chan struct{} // closed after an error
}

// grow begins.
func grow(ctx context.Context, tree *unwind.Tree) *growth {
	stacks := make(chan *unwind.Growth, growthAhead)
	g := &growth{ctx: ctx, stacks: stacks, failed: make(chan struct{})}
	g.group.Go(func() error {
		err := guarded(func() error {
			for more := range stacks {
				tree.Grow(more)
			}
			return nil
		})
		if err != nil {
			close(g.failed)
		}
		return err
	})
	return g
}

// add hands over what is to be added. After an error or the context's end it does
// nothing: close returns the error.
func (g *growth) add(more *unwind.Growth) {
	select {
	case g.stacks <- more:
	case <-g.failed:
	case <-g.ctx.Done():
	}
}

// close waits until all is added. It may be called again.
func (g *growth) close() error {
	if g.stacks != nil {
		close(g.stacks)
		g.stacks = nil
	}
	return g.group.Wait()
}
