package samples

import (
	"math"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"stackmill/schema"
	"stackmill/stages/attribute"
)

// Values that are negative or overflow the sum are left out of sums and samples; values that no
// metric counts stay as recorded.
func TestSumsOverflow(t *testing.T) {
	const malloc, freed = 0, 1
	ops := []int32{malloc, malloc, malloc, freed, malloc, malloc}
	sizes := []int64{5, math.MaxInt64 - 10, 100, -7, -7, 3}
	addresses := []int64{1, 2, 3, 4, 5, 6}
	zeros := make([]int64, len(ops))
	heap := []arrow.Array{schema.Int32s(ops), schema.Int64s(sizes), schema.Int64s(addresses), schema.Int64s(zeros), schema.Int64s(zeros), schema.Int64s(zeros)}
	var metrics []schema.Metric
	for _, m := range schema.Declared {
		if m.Name == "heapallocbytes" || m.Name == "heapalloccnt" {
			metrics = append(metrics, m)
		}
	}
	counter, sums := NewCounter(metrics), NewUsageSums(metrics)
	b := &Batch{Kind: schema.Heap, Process: 1, Payload: heap,
		Stacks: make([]attribute.RecordedStackNo, len(ops)), Threads: make([]int64, len(ops)), CPUs: make([]int32, len(ops)), Times: make([]int64, len(ops)),
		Names: make([]int32, len(ops)), CGroups: make([]int32, len(ops))}
	counter.Add(b)
	if err := sums.Add(b); err != nil {
		t.Fatal(err)
	}
	if got, want := sumsOf(sums, 0)[0], (attribute.Sum{Value: math.MaxInt64 - 2, Samples: 3}); got != want {
		t.Errorf("bytes %v, want %v", got, want)
	}
	if got := sumsOf(sums, 0)[1]; got.Samples != 5 {
		t.Errorf("calls %v", got)
	}
	if counter.LeftOut != 2 {
		t.Errorf("%d values are left out", counter.LeftOut)
	}
	rows := heap[1].(*array.Int64).Int64Values()
	for i, want := range []int64{5, math.MaxInt64 - 10, 0, -7, 0, 3} {
		if rows[i] != want {
			t.Errorf("row %d has %d, want %d", i, rows[i], want)
		}
	}
}
