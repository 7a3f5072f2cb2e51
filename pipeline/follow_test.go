package pipeline

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"stackmill/schema"
	"stackmill/stages/attribute"
)

// Items are passed on in their order up to the first error, panic or the context's end, of
// which the owner learns; all of them are freed once.
func TestFollow(t *testing.T) {
	const items, last = 20, 7
	failure := errors.New("it failed")
	for _, tt := range []struct {
		name   string
		pass   func(item int, end context.CancelCauseFunc) error
		passed int
		want   func(error) bool
	}{
		{"all", func(int, context.CancelCauseFunc) error { return nil }, items, func(err error) bool { return err == nil }},
		{"an error", func(item int, _ context.CancelCauseFunc) error {
			if item == last {
				return failure
			}
			return nil
		}, last + 1, func(err error) bool { return errors.Is(err, failure) }},
		{"a panic", func(item int, _ context.CancelCauseFunc) error {
			if item == last {
				panic("a mistake")
			}
			return nil
		}, last + 1, func(err error) bool { return errors.As(err, new(*InternalError)) }},
		{"the end", func(item int, end context.CancelCauseFunc) error {
			if item == last {
				end(failure)
			}
			return nil
		}, last + 1, func(err error) bool { return errors.Is(err, failure) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, end := context.WithCancelCause(t.Context())
			defer end(nil)
			var passed, freed []int
			f := follow(ctx, 2, func(item int) error {
				passed = append(passed, item)
				return tt.pass(item, end)
			}, func(item int) { freed = append(freed, item) })
			var added error
			for i := range items {
				added = f.add(i)
			}
			err := errors.Join(f.close(), f.close())
			if !tt.want(added) || !tt.want(err) {
				t.Errorf("add: %v, close: %v", added, err)
			}
			if n := numbersTo(tt.passed); !slices.Equal(passed, n) {
				t.Errorf("passed %v, want %v", passed, n)
			}
			if !slices.Equal(freed, numbersTo(items)) {
				t.Errorf("freed %v", freed)
			}
		})
	}
}

// numbersTo lists the numbers from 0 to before n.
func numbersTo(n int) (list []int) {
	for i := range n {
		list = append(list, i)
	}
	return list
}

// remembering is a sink that knows the batches it got.
type remembering struct{ got []*attribute.Batch }

func (r *remembering) Add(b *attribute.Batch) error {
	r.got = append(r.got, b)
	return nil
}

// Large batches go to the sinks on another goroutine, but not beside a sink that must be
// alone with the stages before; small ones at once.
func TestSinking(t *testing.T) {
	for _, tt := range []struct {
		name   string
		rows   int
		alone  bool
		beside bool
	}{
		{"large", schema.BatchRows, false, true},
		{"small", 1, false, false},
		{"alone", schema.BatchRows, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			alloc := memory.NewCheckedAllocator(memory.NewGoAllocator())
			defer alloc.AssertSize(t, 0)
			var sink remembering
			s := &sinking{ctx: t.Context(), to: []stage[attribute.Sink]{{name: "sums", run: &sink}}, alone: tt.alone, took: make([]time.Duration, 1)}
			var batches []*attribute.Batch
			for range 5 {
				b := &attribute.Batch{Times: make([]int64, tt.rows)}
				b.Events.RecordBatch, _ = (&numbered{alloc: alloc, rows: 1, left: 1}).Next()
				batches = append(batches, b)
				if err := s.add(b); err != nil {
					t.Fatal(err)
				}
			}
			var r Result
			if err := s.close(&r); err != nil || len(r.Stages) != 1 || r.Stages[0].Stage != "sums" {
				t.Errorf("%v, stages %v", err, r.Stages)
			}
			if !slices.Equal(sink.got, batches) || (s.beside != nil) != tt.beside {
				t.Errorf("got %d batches, beside: %v", len(sink.got), s.beside != nil)
			}
		})
	}
}
