//go:build !cgo

package main

import (
	"context"

	"github.com/spf13/cobra"
	_ "golang.org/x/crypto/x509roots/fallback" // for an image with only the worker, which has no certificates

	"stackmill/internal/exit"
)

// Without cgo there is no SQL engine: the program then is the worker, which has only the verbs that
// read recordings. It makes no catalog (the next reader does) and merges no batches.

const fullProgram = false

type engine struct{}

func readingCommands(*app) []*cobra.Command { return nil }

func suggestion(string, []string) string { return "" }

func (*app) noSuchVerb(name string, _ []string) error {
	if hint := pathHint(name); hint != "" {
		return exit.Usagef("%s: no such verb (%s)", name, hint)
	}
	return exit.Usagef("%s: the worker, which is built without cgo, lacks this verb: use the full stackmill (--help lists the worker's verbs)", name)
}

// missingFile returns the error unchanged: only the SQL engine's errors need rewording.
func missingFile(err error) error { return err }

func engineVersion() string { return "none" }

// refresh returns nil: the worker makes no catalog.
func (*app) refresh() func(store string) error { return nil }

// reasons says in the rows how to find the reasons: the worker cannot read the store's tables.
func (s *planState) reasons(context.Context) error {
	for i := range s.rows {
		if b := &s.rows[i]; b.Unexplained() {
			b.Why = "run \"problems\" of the full stackmill to see why"
		}
	}
	return nil
}

// minSpace is the address space that the worker needs besides its memory.
const minSpace = 1 << 30
