//go:build !cgo

package runner

import (
	"context"
	"log/slog"
)

// compaction is empty: the worker, which is built without cgo, merges no batches. The reader of
// Parquet files would double its size.
type compaction struct{ interrupted bool }

func (*compaction) exitError() error { return nil }

func (*Runner) compactAfterwards(context.Context, *outcome, *slog.Logger) {}
