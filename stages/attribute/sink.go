package attribute

// Sink takes the samples of one process, batch by batch.
//
// Order: the batches of a kind come in the order of time, one kind after the other
// as schema.Kind lists them, one process after the other. A batch goes to the sinks
// in the order of the pipeline's list, which sees to it that Stacks and Counts are
// filled before.
//
// Ownership: a batch has one owner, who alone may change or release it. Add lends
// it: a sink does not change it, and retains the columns that it needs for longer.
// So sinks can overlap later: connected by bounded channels, each owns a batch from
// receiving it until it sends it to the next one, and the last releases it. They
// share nothing else but the problem log, which then needs a lock.
//
// Errors: after one, none of the recording's sinks gets another batch, and nothing
// of it is committed.
type Sink interface {
	Add(*Batch) error
}
