//go:build !cgo

package pipeline

import (
	"context"
	"errors"
	"os"

	"stackmill/schema"
	"stackmill/stages/decode/kept"
)

// A worker, which is built without cgo, does without what reads a store's tables: it is
// larger than all else.
type (
	tableReader struct{}
	tableFacts  struct{}
)

var errWorker = errors.New("a worker does not read tables: it needs the full stackmill")

func openTable(*os.File, *schema.Table, *tableFacts, ...string) (*tableReader, error) {
	return nil, errWorker
}

func readFacts(context.Context, *os.File, *schema.Table) (*tableFacts, error) { return nil, errWorker }

// Rows implements what reads tables. It is not called.
func (*tableReader) Rows(string, int64, int64) kept.Rows { return unread{errWorker} }
