package schema

// The markers that may be among the addresses of a recorded stack, as 64-bit values also for
// 32-bit processes (gprofng-experiment 4.4).
const (
	MarkLeafCheck    = ^uint64(0)     // the next word is the leaf return register
	MarkTruncated    = ^uint64(0) - 1 // last word: the buffer was full
	MarkFailedUnwind = ^uint64(0) - 2 // last word: the unwinder gave up
	MarkCall         = ^uint64(0) - 3 // perf: the next word is the call into the leaf, which the processor recorded
)
