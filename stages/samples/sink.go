package samples

// Sink receives the samples of one process, batch by batch.
//
// Order: batches are in the order of processes, then of kinds as in schema.Kind, then of time.
// The pipeline passes a batch to the sinks in the order of its list. Stacks and Counts are
// filled before.
//
// Ownership: a batch has one owner, who alone may change or release it. A sink does not change
// the batch, and retains the columns that it needs after Add.
//
// Concurrency: one goroutine at a time calls Add. The sinks run concurrently with the stages
// before them, unless there is a data sink: it uses the problem log and the resolver, as they
// do, and neither is safe for concurrent use.
//
// Errors: after the first one, no sink of the recording gets another batch, and nothing of the
// recording is committed.
type Sink interface {
	Add(*Batch) error
}
