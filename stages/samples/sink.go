package samples

// Sink takes the samples of one process, batch by batch.
//
// Order: the batches of a kind come in the order of time, one kind after the other
// as schema.Kind lists them, one process after the other. A batch goes to the sinks
// in the order of the pipeline's list, with Stacks, IDs and Counts filled before.
//
// Ownership: a batch has one owner, who alone may change or release it. Add lends
// it: a sink does not change it, and retains the columns that it needs for longer.
//
// Overlap: Add is called by one goroutine at a time. The sinks run beside the stages
// before them, except where there is a data sink: it shares the problem log and the
// resolver, by which it resolves the PCs of accesses, with these, and neither is safe for
// concurrent use.
//
// Errors: after the first one no sink of the recording gets another batch, and nothing
// of the recording is committed.
type Sink interface {
	Add(*Batch) error
}
