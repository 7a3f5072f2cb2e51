package report

import (
	"fmt"
	"slices"
)

var (
	allocations    = Column{"allocations", "Allocations", Count}
	allocatedBytes = Column{"allocated_bytes", "Bytes allocated", Count}
	leaks          = Column{"leaks", "Leaks", Count}
	leakedBytes    = Column{"leaked_bytes", "Bytes leaked", Count}
	stack          = Column{"stack", "Stack", Words}
	fileName       = Column{"name", "Name", Words}
	process        = Column{"process", "Process", Number}
	sizeRange      = Column{"size_range", "Size", Words}
	operation      = Column{"operation", "Operation", Words}
	when           = Column{"time_ns", "At s", Moment}
	calls          = Column{"calls", "Calls", Number}
	call           = Column{"name", "Call", Words}
	failed         = Column{"errors", "Errors", Number}
	totalTime      = Column{"total_ns", "Total s", Moment}
	meanTime       = Column{"mean_ns", "Mean s", Moment}
	longestTime    = Column{"longest_ns", "Longest s", Moment}
	lockWait       = Column{"wait_ns", "Wait s", Moment}
	lockWaits      = Column{"waits", "Waits", Number}
	lockType       = Column{"type", "Type", Words}
	counted        = []Column{{"amount", "Count", Number}, {"unit", "Unit", Words}, {"event", "Event", Words}, {"running_percent", "Counted %", Number}, {"missing", "Missing", Words}}
	ioSums         = []Column{
		{"read_ns", "Read s", Time}, {"read_bytes", "Bytes read", Count}, {"reads", "Reads", Count},
		{"write_ns", "Write s", Time}, {"written_bytes", "Bytes written", Count}, {"writes", "Writes", Count},
		{"other_ns", "Other s", Time}, {"others", "Other calls", Count}, {"error_ns", "Errors s", Time}, {"errors", "Errors", Count},
	}
)

// ioOrder sorts by time, then by transferred bytes.
const ioOrder = "read_ns + write_ns + other_ns + error_ns DESC, read_bytes + written_bytes DESC, reads + writes + others + errors DESC, name"

// sideBySide are the reports that show several metrics in one row.
var sideBySide = []Report{
	{
		Name: "leaks", View: "heap_stacks", Title: "Leaks",
		withInlined: "inline_heap_stacks",
		Columns:     []Column{leaks, leakedBytes, stack},
		order:       "leaked_bytes DESC, leaks DESC, stack, stack_id",
		rows:        func(*Question) string { return "v.leaks > 0" },
		Totals:      true, Drawn: true,
	},
	{
		Name: "allocations", View: "heap_stacks", Title: "Allocations",
		withInlined: "inline_heap_stacks",
		Columns:     []Column{allocations, allocatedBytes, stack},
		order:       "allocated_bytes DESC, allocations DESC, stack, stack_id",
		Totals:      true, Drawn: true,
	},
	{
		Name: "heap", View: "heap_stacks", Title: "Allocations and leaks",
		withInlined: "inline_heap_stacks",
		Columns:     []Column{allocations, allocatedBytes, leaks, leakedBytes, stack},
		order:       "leaked_bytes DESC, allocated_bytes DESC, allocations DESC, stack, stack_id",
		Totals:      true, Drawn: true,
	},
	{
		Name: "heap-statistics", View: "heap_statistics", Title: "Heap of each process",
		Columns: []Column{{"peak_bytes", "Peak bytes", Number}, {"peak_ns", "Peak at s", Seconds}, {"pid", "PID", Number},
			allocations, allocatedBytes, {"smallest_bytes", "Smallest", Number}, {"largest_bytes", "Largest", Number},
			leaks, leakedBytes, {"smallest_leak", "Smallest leak", Number}, {"largest_leak", "Largest leak", Number}, {"target", "Program", Words}},
		order: "peak_bytes DESC NULLS LAST, process",
	},
	{
		Name: "heap-sizes", View: "heap_sizes", Title: "Sizes of allocations and leaks",
		Columns: []Column{{"what", "What", Words}, sizeRange, {"blocks", "Blocks", Number}, {"bytes", "Bytes", Number}},
		order:   "what, above",
	},
	{
		Name: "heap-blocks", View: "heap_blocks", Title: "Blocks of memory",
		Columns: []Column{{"allocated_ns", "Allocated s", Moment}, {"ended_ns", "Ended s", Moment}, {"fate", "Fate", Words}, process, thread, operation,
			{"size", "Size", Number}, {"leaked", "Leaked", Number}, {"address", "Address", Address}},
		order: "allocated_ns, sample",
	},
	{
		Name: "heap-calls", View: "heap_calls", Title: "Heap calls",
		Columns: []Column{when, process, thread, operation, {"size", "Size", Number}, {"address", "Address", Address}, {"old_address", "Old address", Address},
			{"leaked", "Leaked", Number}, {"freed", "Freed", Number}},
		order: "time_ns, sample",
	},
	{
		Name: "io-activity", View: "io_activity", Title: "I/O by file",
		Columns: slices.Concat(ioSums, []Column{fileName}),
		order:   ioOrder,
		Totals:  true,
	},
	{
		Name: "io-descriptors", View: "io_descriptors", Title: "I/O by file descriptor, from open to close",
		Columns: slices.Concat(ioSums, []Column{fileName, {"fd", "Descriptor", Number}, process, {"file", "Number", Number}}),
		order:   ioOrder + ", process, file",
		Totals:  true,
	},
	{
		Name: "io-stacks", View: "io_stacks", Title: "I/O by call stack",
		withInlined: "inline_io_stacks",
		Columns:     slices.Concat(ioSums, []Column{stack}),
		order:       "read_ns + write_ns + other_ns + error_ns DESC, read_bytes + written_bytes DESC, stack, stack_id",
		Totals:      true, Drawn: true,
	},
	{
		Name: "io-statistics", View: "io_statistics", Title: "I/O statistics",
		Columns: []Column{{"part", "Calls of", Words}, {"calls", "Calls", Number}, {"bytes", "Bytes", Number}, {"smallest_bytes", "Smallest", Number},
			{"largest_bytes", "Largest", Number}, {"time_ns", "Time s", Moment}, {"longest_ns", "Longest s", Moment}},
		order: "array_position(['write', 'read', 'other', 'error'], part)",
	},
	{
		Name: "io-sizes", View: "io_sizes", Title: "Sizes of reads and writes",
		Columns: []Column{{"part", "Calls of", Words}, sizeRange, {"calls", "Calls", Number}, {"bytes", "Bytes", Number}},
		order:   "array_position(['write', 'read'], part), above",
	},
	{
		Name: "io-calls", View: "io_calls", Title: "I/O calls",
		Columns: []Column{when, process, thread, operation, {"failed", "Failed", Words}, {"fd", "Descriptor", Number}, {"bytes", "Bytes", Number},
			{"duration_ns", "Took s", Moment}, fileName},
		order: "time_ns, sample",
	},
	{
		Name: "sched-threads", View: "sched_threads", Title: "Threads on CPUs and off",
		Columns: []Column{{"on_ns", "On s", Seconds}, {"preempted_ns", "Preempted", Seconds}, {"runqueue_ns", "Run queue", Seconds},
			{"blocked_ns", "Blocked", Seconds}, {"disk_ns", "Disk", Seconds}, {"unknown_ns", "Unknown", Seconds}, {"switches", "Switches", Number},
			{"migrations", "Migrations", Number}, {"longest_runqueue_ns", "Longest delay s", Moment}, process, thread, threadName},
		order: "on_ns DESC, process, thread_id",
	},
	{
		Name: "waits", View: "waits", Title: "Waits by function",
		Columns: []Column{{"wait_ns", "Wait s", Seconds}, {"waits", "Waits", Number}, {"mean_ns", "Mean s", Moment}, {"longest_ns", "Longest s", Moment},
			{"state", "State", Words}, {"function", "Function", Words}, loadObject},
		order: "wait_ns DESC, function, load_object, state, function_id",
	},
	{
		Name: "wait-stacks", View: "wait_stacks", Title: "Waits by stack",
		Columns: []Column{{"wait_ns", "Wait s", Seconds}, {"waits", "Waits", Number}, {"mean_ns", "Mean s", Moment}, {"longest_ns", "Longest s", Moment},
			{"state", "State", Words}, stack},
		order: "wait_ns DESC, stack, state",
	},
	{
		Name: "wakers", View: "wakers", Title: "Who woke whom up",
		Columns: []Column{{"wait_ns", "Wait s", Seconds}, {"waits", "Waits", Number}, {"function", "Function", Words}, {"thread_name", "Thread", Words},
			{"waker_function", "Woken by", Words}, {"waker_thread_name", "Thread", Words}},
		order: "wait_ns DESC, function, thread_name, waker_function, waker_thread_name",
	},
	{
		Name: "runqueue", View: "runqueue", Title: "Delays of threads that were woken up",
		Columns: []Column{{"delay_ns", "Delay s", Seconds}, {"delays", "Delays", Number}, {"mean_ns", "Mean s", Moment}, {"longest_ns", "Longest s", Moment},
			{"longest_at_ns", "At s", Moment}, process, thread, threadName},
		order: "delay_ns DESC, process, thread_id",
	},
	{
		Name: "parallelism", View: "parallelism", Title: "Threads on CPUs at the same time",
		Columns: []Column{{"level", "Threads", Number}, {"wall_ns", "Wall s", Seconds}, {"on_ns", "CPU s", Seconds}},
		order:   "level",
	},
	{
		Name: "syscalls", View: "syscall_functions", Title: "System calls by function",
		Columns: []Column{calls, failed, totalTime, meanTime, longestTime, call, {"function", "Function", Words}, loadObject},
		order:   "total_ns DESC NULLS LAST, calls DESC, number, name, function, load_object, function_id",
	},
	{
		Name: "syscall-threads", View: "syscall_threads", Title: "System calls by thread",
		Columns: []Column{calls, failed, totalTime, meanTime, longestTime, call, process, thread, threadName},
		order:   "total_ns DESC NULLS LAST, calls DESC, number, name, process, thread_id",
	},
	{
		Name: "syscall-errors", View: "syscall_errors", Title: "System calls that failed",
		Columns: []Column{calls, {"error_name", "Error", Words}, {"error", "Number", Number}, call, {"function", "Function", Words}, loadObject},
		order:   "calls DESC, error, number, name, function, load_object, function_id",
	},
	{
		Name: "lock-waits", View: "lock_callers", Title: "Waits for locks of the kernel by function",
		Columns: []Column{lockWait, lockWaits, meanTime, longestTime, lockType, {"function", "Function", Words}, loadObject},
		order:   "wait_ns DESC NULLS LAST, waits DESC, function, load_object, type, function_id",
	},
	{
		Name: "lock-threads", View: "lock_threads", Title: "Waits for locks of the kernel by thread",
		Columns: []Column{lockWait, lockWaits, meanTime, longestTime, process, thread, threadName},
		order:   "wait_ns DESC NULLS LAST, waits DESC, process, thread_id",
	},
	{
		Name: "locks", View: "locks", Title: "Locks of the kernel that threads waited for",
		Columns: []Column{lockWait, lockWaits, meanTime, longestTime, {"threads", "Threads", Number}, lockType, {"lock", "Lock", Address}},
		order:   "wait_ns DESC NULLS LAST, waits DESC, lock",
	},
	{
		Name: "block-io", View: "block_io", Title: "Requests to block devices",
		Columns: []Column{totalTime, {"requests", "Requests", Number}, {"bytes", "Bytes", Number}, meanTime, longestTime, {"operation", "Operation", Words},
			{"device", "Device", Words}, {"function", "Function", Words}, loadObject},
		order: "total_ns DESC NULLS LAST, bytes DESC, requests DESC, operation, device, function, load_object, function_id",
	},
	{
		Name: "kernel-memory", View: "kernel_memory", Title: "Memory that the kernel allocated",
		Columns: []Column{{"allocated_bytes", "Allocated", Number}, {"requested_bytes", "Requested", Number}, {"wasted_bytes", "Wasted", Number}, {"unfreed_bytes", "Not freed", Number},
			{"allocations", "Allocations", Number}, {"moved", "Moved", Number}, {"caller", "Called by", Words}, {"call_site", "At", Address}, {"function", "Function", Words}, loadObject},
		order: "allocated_bytes DESC, allocations DESC, call_site, function, load_object, function_id",
	},
	{
		Name: "interrupts", View: "interrupt_handlers", Title: "Handlers of interrupts",
		Columns: []Column{totalTime, {"runs", "Runs", Number}, meanTime, longestTime, {"cpus", "CPUs", Number}, {"kind", "Kind", Words}, {"number", "Number", Number}, {"name", "Name", Words}},
		order:   "total_ns DESC NULLS LAST, runs DESC, kind, number, name",
	},
	{
		Name: "counts", View: "event_counts", Title: "Counts of events, by interval",
		Columns: append([]Column{{"t1_ns", "Until s", Moment}}, counted...),
		order:   "interval_no, event",
	},
	{
		Name: "counters", View: "counters", Title: "Counts of events, by interval, CPU and thread",
		Columns: append([]Column{{"t1_ns", "Until s", Moment}, {"cpu", "CPU", Number}, thread, threadName}, counted...),
		order:   "interval_no, event, cpu, amount DESC NULLS LAST, thread_id",
	},
	{
		Name: "event-formats", View: "event_list", Title: "Events and their fields",
		Columns: []Column{{"event", "Event", Words}, {"samples", "Samples", Number}, {"field", "Field", Words}, {"type", "Type", Words}, {"size", "Bytes", Number}},
		order:   "samples DESC, event, position",
	},
	{
		Name: "event-fields", View: "event_samples", Title: "Samples of events with their fields",
		Columns: []Column{when, thread, threadName, {"cpu", "CPU", Number}, {"event", "Event", Words}, {"fields", "Fields", Words}},
		order:   "time_ns, sample",
	},
	{
		Name: "sync-objects", View: "sync_objects", Title: "Objects that threads waited for",
		Columns: []Column{{"wait_ns", "Waited s", Time}, {"waits", "Waits", Count}, {"longest_ns", "Longest s", Moment}, {"threads", "Threads", Number},
			{"object", "Object", Address}, {"variable", "Variable", Words}, process},
		order:  "wait_ns DESC, waits DESC, process, object",
		Totals: true,
	},
	{
		Name: "header", View: "headers", Title: "Experiment",
		Columns: []Column{{"experiment", "Experiment", Words}, {"path", "Path", Words}, {"status", "Status", Words}, {"errors", "Errors", Number}, {"warnings", "Warnings", Number},
			{"target", "Program", Words}, {"command", "Command", Words}, {"directory", "Directory", Words}, {"pid", "PID", Number}, {"processes", "Processes", Number},
			{"word_bits", "Bits of a word", Number}, {"format", "Format", Words}, {"format_version", "Format version", Words}, {"collector", "Collector", Words},
			{"host", "Host", Words}, {"os", "OS", Words}, {"arch", "Architecture", Words}, {"cpus", "CPUs", Number}, {"clock_mhz", "Clock MHz", Number}, {"page_size", "Page size", Number},
			{"kinds", "Data", Words}, {"samples", "Samples", Number}, {"started", "Started", Words}, {"duration_ns", "Duration s", Moment}},
		order: "experiment_id",
		Drawn: true,
	},
	{
		Name: "objects", View: "object_list", Title: "Load objects, with a value or without",
		Columns: []Column{loadObject, {"kind", "Kind", Words}, {"symbols", "Symbols from", Words}, {"functions", "Functions", Number}, {"lines", "Lines", Words},
			{"mappings", "Mappings", Number}, {"path", "Path", Words}},
		order: "load_object, path, load_object_id",
	},
	{
		Name: "statistics", View: "process_statistics", Title: "Resources used by each process",
		Columns: slices.Concat([]Column{{"pid", "PID", Number}, {"target", "Program", Words}, {"points", "Sample points", Number}}, resources),
		order:   "process",
		Drawn:   true,
	},
	{
		Name: "sample-points", View: "sample_points", Title: "Resources used between sample points",
		Columns: slices.Concat([]Column{{"pid", "PID", Number}, {"point", "Sample point", Number}, {"label", "Label at the end", Words}}, resources),
		order:   "process, point",
		Drawn:   true,
	},
}

// resources are the columns of resource usage.
var resources = []Column{
	{"t0_ns", "Start s", Seconds}, {"t1_ns", "End s", Seconds}, {"real_ns", "Duration s", Seconds}, {"user_ns", "User CPU s", Seconds}, {"system_ns", "System CPU s", Seconds},
	{"trap_ns", "Trap CPU s", Seconds}, {"lock_ns", "User lock s", Seconds}, {"data_fault_ns", "Data page fault s", Seconds}, {"text_fault_ns", "Text page fault s", Seconds},
	{"kernel_fault_ns", "Kernel page fault s", Seconds}, {"stopped_ns", "Stopped s", Seconds}, {"cpu_wait_ns", "Wait CPU s", Seconds}, {"sleep_ns", "Sleep s", Seconds},
	{"minor_faults", "Minor page faults", Number}, {"major_faults", "Major page faults", Number}, {"swaps", "Process swaps", Number},
	{"blocks_in", "Input blocks", Number}, {"blocks_out", "Output blocks", Number}, {"messages_sent", "Messages sent", Number}, {"messages_received", "Messages received", Number},
	{"signals", "Signals handled", Number}, {"voluntary_switches", "Voluntary context switches", Number}, {"involuntary_switches", "Involuntary context switches", Number},
	{"system_calls", "System calls", Number}, {"characters", "Characters of I/O", Number},
}

// Measured reports whether each of the report's rows belongs to one metric.
func (r Report) Measured() bool { return r.has("metric") }

// HasModes reports whether each of the report's rows belongs to one mode.
func (r Report) HasModes() bool { return r.has("mode") }

// has reports whether the report's view has a column.
func (r Report) has(column string) bool {
	return slices.Contains((&Request{Report: r}).columnsOfView(), column)
}

// TotalOf returns the name of the column, in a table, that has <Total>'s value of another column.
func TotalOf(column string) string { return column + " total" }

// sums returns SQL for these columns, if rows have several metrics.
func (q *Question) sums() (columns string) {
	for _, c := range q.Columns {
		if c.As == Count || c.As == Time {
			columns += fmt.Sprintf(", sum(v.%s) OVER (PARTITION BY v.experiment_id)::BIGINT AS \"%s\"", c.Name, TotalOf(c.Name))
		}
	}
	return columns
}
