//go:build !cgo

package main

import (
	"context"

	"github.com/spf13/cobra"

	"stackmill/pipeline"
	"stackmill/storedir"
)

// Without cgo there is no SQL engine. What is left is the worker: the verbs that write
// a store. Its stores have no catalog until the next reader makes it.

type engine struct{}

func readingCommands(*app) []*cobra.Command { return nil }

func noSuchVerb(name string, _ []string) error {
	return usageErrorf("%s: the worker, which is built without cgo, has no such verb: it needs the full stackmill (--help lists what there is)", name)
}

func refresh(context.Context, string, string) error { return nil }

func removeTemporary() {}

// missingFile is for errors of the engine.
func missingFile(err error) error { return err }

func engineVersion() string { return "none" }

// publisher makes no catalog.
type publisher struct {
	*app
	store, cache string
	progress     *pipeline.Progress
}

func (*publisher) begin(context.Context)                   {}
func (*publisher) expect(context.Context, storedir.Commit) {}
func (*publisher) publish(context.Context)                 {}
func (*publisher) end()                                    {}

// reasons says where the reasons are: in the tables.
func (s *planState) reasons(context.Context) error {
	for i := range s.rows {
		if b := &s.rows[i]; unexplained(b) {
			b.Why = "the full stackmill's \"problems\" says why"
		}
	}
	return nil
}

// leastSpace is the address space that the worker needs besides its memory.
const leastSpace = 1 << 30
