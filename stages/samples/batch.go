package samples

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"stackmill/schema"
	"stackmill/stages/attribute"
)

// Batch is a batch of samples of one kind and process. It holds the recorded events and, for each
// sample, values derived from them.
type Batch struct {
	Kind    schema.Kind
	Process int           // its number
	First   int64         // the first sample's number within the experiment
	Events  schema.Events // as recorded, without derived columns
	Times   []int64
	Threads []int64
	CPUs    []int32
	Names   []int32                     // numbers of threads' names
	CGroups []int32                     // indices in decode.Recording.CGroups
	Payload []arrow.Array               // columns of the kind's table after `sample`
	Stacks  []attribute.RecordedStackNo // numbers of recorded stacks (ProcessStacks.Add)
	Counts  []Count                     // by metric (Counter.Add)
}

// newBatch returns a batch that owns events and payload.
func newBatch(k schema.Kind, process int, first int64, events schema.Events, payload []arrow.Array) *Batch {
	return &Batch{
		Kind: k, Process: process, First: first, Events: events, Payload: payload,
		Times:   events.RecordBatch.Column(schema.EventTime).(*array.Int64).Int64Values(),
		Threads: events.RecordBatch.Column(schema.EventThread).(*array.Int64).Int64Values(),
		CPUs:    events.RecordBatch.Column(schema.EventCPU).(*array.Int32).Int32Values(),
		Names:   events.RecordBatch.Column(schema.EventName).(*array.Int32).Int32Values(),
		CGroups: events.RecordBatch.Column(schema.EventCGroup).(*array.Int32).Int32Values(),
	}
}

// Len returns the number of samples.
func (b *Batch) Len() int { return len(b.Times) }

// Release releases the columns. The batch's owner calls it once.
func (b *Batch) Release() {
	release(b.Payload)
	b.Events.Release()
}

func release(columns []arrow.Array) {
	for _, c := range columns {
		c.Release()
	}
}

// sampleColumn is the last column before those that differ by kind (the payload) in each table of
// samples.
const sampleColumn = "sample"

// column returns a column of the kind's table.
func (b *Batch) column(name string) arrow.Array {
	t := b.Kind.Traits().Table
	return b.Payload[t.Index(name)-t.Index(sampleColumn)-1]
}

// sources returns, for each sample, the number of its counter or event, and the numbers by name.
// Both are nil if the kind has no counters.
func (b *Batch) sources() (sources []int32, numbers map[string]int32) {
	source := b.Kind.Traits().Source
	if source == "" {
		return nil, nil
	}
	labels := b.column(source).(*array.Dictionary)
	names := labels.Dictionary().(*array.String)
	numbers = map[string]int32{}
	for i := range names.Len() {
		numbers[names.Value(i)] = int32(i)
	}
	return labels.Indices().(*array.Int32).Int32Values(), numbers
}

// Sink receives the samples of one process, batch by batch.
//
// Order: batches are in the order of processes, then of kinds as in schema.Kind, then of time. The
// pipeline fills a batch's Stacks and Counts, then passes it to the sinks in the order of its list
// of sinks.
//
// Ownership: a batch has one owner, who alone may change or release it. A sink does not change the
// batch. It retains the columns that it needs after Add.
//
// Concurrency: only one goroutine at a time calls Add. The sinks run concurrently with the stages
// before them, except if there is a data sink: like these stages, it uses the problem log and the
// resolver, which are not safe for concurrent use.
//
// Errors: after the first error, no sink of the recording gets another batch, and nothing of the
// recording is committed.
type Sink interface {
	Add(*Batch) error
}
