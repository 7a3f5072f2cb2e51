//go:build !cgo

package runner

import (
	"context"
	"log/slog"
)

// compaction is empty, because a worker merges no batches: it is built without cgo and the reader
// of Parquet files, which would double its size.
type compaction struct{ interrupted bool }

func (*compaction) exitError() error { return nil }

func (*Runner) compactAfterwards(context.Context, *outcome, *slog.Logger) {}
