package pipeline

import (
	"context"
	"errors"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"stackmill/internal/hosterr"
	"stackmill/schema"
	"stackmill/stages/decode"
)

// numbered reads batches of one number each, then the end, an error or a panic.
type numbered struct {
	alloc  memory.Allocator
	rows   int
	left   int64
	err    error
	panics any
	closed bool
}

func (n *numbered) Next() (arrow.RecordBatch, error) {
	if n.left == 0 {
		if n.panics != nil {
			panic(n.panics)
		}
		return nil, n.err
	}
	n.left--
	b := array.NewRecordBuilder(n.alloc, arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil))
	defer b.Release()
	for range n.rows {
		b.Field(0).(*array.Int64Builder).Append(n.left)
	}
	return b.NewRecordBatch(), nil
}

func (n *numbered) Close() { n.closed = true }

// Batches come in order and belong to the reader; then each call returns the decoder's end or
// error.
func TestReadAhead(t *testing.T) {
	failure := errors.New("it failed")
	for _, tt := range []struct {
		name   string
		rows   int
		left   int64
		err    error
		panics any
	}{
		{"many", schema.BatchRows, 9, nil, nil},
		{"small", 1, 9, nil, nil},
		{"none", 1, 0, nil, nil},
		{"an error", schema.BatchRows, 3, failure, nil},
		{"an error at once", 1, 0, failure, nil},
		{"a panic", schema.BatchRows, 3, nil, "a mistake"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			alloc := memory.NewCheckedAllocator(memory.NewGoAllocator())
			defer alloc.AssertSize(t, 0)
			source := &numbered{alloc: alloc, rows: tt.rows, left: tt.left, err: tt.err, panics: tt.panics}
			events := newReadAhead(t.Context(), source)
			for want := tt.left - 1; want >= 0; want-- {
				b, err := events.Next()
				if err != nil {
					t.Fatal(err)
				}
				if got := b.Column(0).(*array.Int64).Value(0); got != want {
					t.Errorf("batch %d, want %d", got, want)
				}
				b.Release()
			}
			for range 2 {
				b, err := events.Next()
				var internal *InternalError
				if panicked := errors.As(err, &internal); b != nil || panicked != (tt.panics != nil) || !panicked && !errors.Is(err, tt.err) {
					t.Error(b, err)
				}
			}
			if events.Close(); !source.closed {
				t.Error("the decoder's reader is open")
			}
		})
	}
}

// A reader that is closed early, or whose context ends, releases batches that were read ahead.
func TestReadAheadEnds(t *testing.T) {
	alloc := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer alloc.AssertSize(t, 0)
	read := func(ctx context.Context) decode.EventReader {
		events := newReadAhead(ctx, &numbered{alloc: alloc, rows: schema.BatchRows, left: 100})
		b, err := events.Next()
		if err != nil {
			t.Fatal(err)
		}
		b.Release()
		return events
	}
	read(t.Context()).Close()

	ctx, cancel := context.WithCancel(t.Context())
	events := read(ctx)
	defer events.Close()
	cancel()
	for n := 0; ; n++ {
		b, err := events.Next()
		if err != nil {
			if !hosterr.Is(err) || n == 99 {
				t.Error(n, err)
			}
			return
		}
		b.Release()
	}
}
