package perfdata

import (
	"math/bits"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"stackmill/schema"
	"stackmill/stages/decode"
)

// wallShares divides the time that a thread was on a CPU among the thread's clock samples, in
// proportion to their values. The shares of a thread's samples add up to its time.
type wallShares struct {
	clock int32                 // the event of clock samples, -1 if there is none
	times map[int32]*threadTime // by thread; empty if the recording does not show switches
	given map[int32]*threadTime // thread -> shares and values of the samples so far
}

// record makes a record batch of samples. It shares the memory of the columns.
func (w *wallShares) record(b *rowBatch) arrow.RecordBatch {
	wide := func(column int, absent func() []int64) arrow.Array {
		values := b.wide[column]
		if values == nil {
			values = absent()[:b.len()]
		}
		return schema.Int64s(values)
	}
	wall, latency := w.of(b)
	return decode.NewBatch(schema.EventSchema(schema.Perf), append(b.common(), // in the order of the schema
		schema.Int32s(b.narrow[rowEvent]), schema.Int64s(b.wide[rowPeriod]),
		wide(rowAddress, unknown), wide(rowWeight, zeros), wide(rowSource, unknown), wide(rowPhysical, unknown), wide(rowExact, zeros),
		wide(rowParallelism, unknown), schema.Int64s(wall), schema.Int64s(latency), wide(rowRecord, unknown),
	))
}

// of returns, for each sample, its share (wall) and its value divided by the parallelism (latency);
// -1 if it has none.
func (w *wallShares) of(b *rowBatch) (wall, latency []int64) {
	wall, latency = unknown()[:b.len()], unknown()[:b.len()]
	if len(w.times) == 0 || w.clock < 0 {
		return wall, latency
	}
	wall, latency = slices.Clone(wall), slices.Clone(latency)
	parallelism := b.wide[rowParallelism]
	for i, event := range b.narrow[rowEvent] {
		if event != w.clock {
			continue
		}
		value, tid := b.wide[rowPeriod][i], b.narrow[rowThread][i]
		if parallelism != nil && parallelism[i] > 0 {
			latency[i] = value / parallelism[i]
		}
		if t := w.times[tid]; t != nil && t.value > 0 {
			wall[i] = w.next(tid, value, t)
		}
	}
	return wall, latency
}

// next returns the share of a thread's next sample: the rounded sum of the shares up to this
// sample, minus the sum before it.
func (w *wallShares) next(tid int32, value int64, t *threadTime) int64 {
	given := w.given[tid]
	if given == nil {
		given = &threadTime{}
		w.given[tid] = given
	}
	before := given.on
	given.add(value)
	high, low := bits.Mul64(uint64(t.on), uint64(given.value))
	quotient, _ := bits.Div64(high, low, uint64(t.value)) // given.value is at most t.value
	given.on = int64(quotient)
	return given.on - before
}

// waitRows reads the waits of a process.
type waitRows struct {
	t     *timeline
	dumps int // number of the samples' dumps; the dumps of waits have the numbers after these
}

// record makes a record batch of waits.
func (w *waitRows) record(b *rowBatch) arrow.RecordBatch {
	wakers := slices.Clone(b.wide[rowWaker])
	for i, number := range wakers {
		wakers[i] = w.t.wakerSample(number)
	}
	own := *b
	if w.dumps > 0 {
		stacks := slices.Clone(b.narrow[rowStack])
		for i, stack := range stacks {
			if n, dumped := decode.DumpOfStack(stack); dumped {
				stacks[i] = decode.StackOfDump(w.dumps + n)
			}
		}
		own.narrow[rowStack] = stacks
	}
	return decode.NewBatch(schema.EventSchema(schema.Wait), append(own.common(),
		schema.Int32s(b.narrow[rowEvent]), schema.Int64s(b.wide[rowPeriod]), schema.Int64s(wakers)))
}

// wakerSample converts a value of rowWaker to the sample's number within the recording. The stages
// number samples process by process; in each process, the waits come after the other samples.
func (t *timeline) wakerSample(waker int64) int64 {
	if waker == noWaker {
		return noWaker
	}
	return t.recorded[waker>>wakerShift-1].waits().first + waker&(1<<wakerShift-1)
}
