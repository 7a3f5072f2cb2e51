package schema

// Samples.
var (
	// ThreadNames has a row for each name only if samples were taken while the thread had it.
	ThreadNames = &Table{Name: "thread_names", Row: "one period in which a thread had one name, if samples were taken in it; a thread that returns to an earlier name has another row", Key: key("process", "thread_id", "name_no"), Columns: []Column{
		experimentID, process,
		{"thread_id", Int64, Dict, "", false, "The kernel's id of the thread."},
		{"name_no", Int32, Dict, "", false, "The number of the period within the thread, in order of time: from 0, or from 1 if the thread's name is unknown for its first samples."},
		{"thread_name", String, Dict, "", false, "The thread's name in this period."},
		{"from_ns", Int64, Delta, "ns", false, "The period's start, from the founder's start; 0 if the thread had the name before that."},
		{"until_ns", Int64, Dict, "ns", true, "The period's end, when the thread got its next name or ended; missing if neither was recorded."},
	}}
	Samples = &Table{Name: "samples", Row: "one recorded event", Key: key("sample"), Columns: []Column{
		experimentID, sampleNo,
		{"kind", Label, Dict, "", false, "`clock`, `heap`, `io`, `sync`, `hwc`, `omp`, `race`, `deadlock`, `perf`, `pprof` or `wait`: the table `<kind>_samples` has the rest."},
		process,
		{"thread_id", Int64, Dict, "", false, "The kernel's id of the thread."},
		{"cpu", Int32, Dict, "", false, "The CPU."},
		{"time_ns", Int64, Delta, "ns", false, "When the event happened, from the founder's start; for a traced call, when the call ended."},
		stackNo, nameNo, cgroup,
	}, Joined: "LEFT JOIN thread_names n USING (experiment_id, process, thread_id, name_no)", Computed: []DerivedColumn{
		rawStackID,
		{"thread_name", String, "n.thread_name", "The thread's name at that time; missing if it was not recorded."},
	}}
	ClockSamples = &Table{Name: "clock_samples", Row: "one clock-profiling event", Key: key("sample"), Columns: []Column{
		experimentID, sampleNo,
		{"state", Int32, Dict, "", false, "The micro-state: 0 user, 1 system, 2 trap, 3 text fault, 4 data fault, 5 kernel fault, 6 lock, 7 sleep, 8 CPU wait, 9 stopped, 10 user+system (Linux), 11 kernel."},
		{"duration_ns", Int64, Dict, "ns", false, "The time that the sample represents: the number of ticks times the requested interval."},
		{"omp_state", Int32, Dict, "", false, "The OpenMP state recorded with the stack, -1 if there is none."},
	}}
	HeapSamples = &Table{Name: "heap_samples", Row: "one heap call", Key: key("sample"), Columns: []Column{
		experimentID, sampleNo,
		{"operation", Int32, Dict, "", false, "The call: 0 malloc, 1 free, 2 realloc, 3 mmap, 4 munmap."},
		{"size", Int64, Dict, "bytes", false, "The requested size; 0 for `free`."},
		{"address", Int64, Delta, "", false, "The block's address."},
		{"old_address", Int64, PlainOrDelta, "", false, "For `realloc`: the block's previous address."},
		{"leaked", Int64, Dict, "bytes", false, "How many bytes of the block were never freed."},
		{"freed", Int64, Dict, "bytes", false, "How many bytes of traced blocks this call freed."},
	}}
	IOSamples = &Table{Name: "io_samples", Row: "one I/O call", Key: key("sample"), Columns: []Column{
		experimentID, sampleNo,
		{"operation", Int32, Dict, "", false, "The call: 0 read, 1 write, 2 open, 3 close, 4 other; 5 to 9 are the same calls when they failed."},
		{"fd", Int32, Dict, "", false, "The file descriptor."},
		{"bytes", Int64, Dict, "bytes", false, "The number of bytes transferred; negative, as recorded, if the call failed."},
		{"duration_ns", Int64, Delta, "ns", false, "How long the call took."},
		{"metric_ns", Int64, Delta, "ns", false, "The duration rounded to whole microseconds, as the metrics sum it."},
		{"file", Int32, Dict, "", false, "The file: `io_files.file`."},
	}}
	IOFiles = &Table{Name: "io_files", Row: "one use of a file by one process, from open to close", Key: key("process", "file"), Columns: []Column{
		experimentID,
		{"file", Int32, Delta, "", false, "The number of the use within the experiment. In every process, 1 to 3 are the standard streams and 4 is other activity; opened files have numbers from 10; -1 is for calls on a descriptor that is not open."},
		process,
		{"name", String, Dict, "", false, "The file's name."},
		{"file_system", String, Dict, "", false, "The kind of file system, `N/A` if unknown."},
	}}
	SyncSamples = &Table{Name: "sync_samples", Row: "one wait for a synchronization object", Key: key("sample"), Columns: []Column{
		experimentID, sampleNo,
		{"duration_ns", Int64, Delta, "ns", false, "How long the thread waited."},
		{"metric_ns", Int64, Delta, "ns", false, "The duration rounded to whole microseconds, as the metrics sum it."},
		{"object", Int64, Dict, "", false, "The address of the synchronization object."},
	}}
	SyncVariables = &Table{Name: "sync_variables", Row: "one synchronization object at whose address a load object has a variable", Key: key("process", "object"), Columns: []Column{
		experimentID, process,
		{"object", Int64, Dict, "", false, "The address of the object: `sync_samples.object`."},
		{"variable", String, Dict, "", false, "The variable at the address, with the element and member that the object is: `queues[2].lock`. If the types are unknown, the symbol and the offset in it: `queues+0x58`."},
	}}
	HWCSamples = &Table{Name: "hwc_samples", Row: "one hardware counter overflow", Key: key("sample"), Columns: []Column{
		experimentID, sampleNo,
		{"counter", Label, Dict, "", false, "The counter, by the name of its metric."},
		{"value", Int64, Dict, "", false, "The number of events that the sample stands for, in the metric's unit; 0 for an invalid sample."},
		{"data_address", Int64, DictOrDelta, "", true, "The virtual data address, or a code below 255 that says why there is none."},
		{"physical_address", Int64, Dict, "", true, "The physical data address."},
		{"trigger_pc", Int64, Dict, "", true, "The PC of the instruction that probably caused the overflow (the candidate trigger PC)."},
		{"latency", Int64, Dict, "cycles", true, "The access's latency."},
		{"data_source", Int64, Dict, "", true, "Where the data came from, as recorded."},
	}}
	OMPSamples = &Table{Name: "omp_samples", Row: "one OpenMP event", Key: key("sample"), Columns: []Column{
		experimentID, sampleNo,
		{"event", Int32, Dict, "", false, "The packet type: 9 fork, 12 region, 14 task, 15 region description, 16 task description."},
		{"region", Int64, Dict, "", false, "The parallel region."},
		{"parent_region", Int64, Dict, "", false, "The parallel region that encloses it."},
		{"task", Int64, Dict, "", false, "The task."},
		{"parent_task", Int64, Dict, "", false, "The task that created it."},
		{"region_pc", Int64, Dict, "", false, "The region's PC."},
	}}
	RaceSamples = &Table{Name: "race_samples", Row: "one access that takes part in a data race", Key: key("sample"), Columns: []Column{
		experimentID, sampleNo,
		{"race", Int64, Dict, "", false, "The race."},
		{"type", Int32, Dict, "", false, "The access's type, as recorded."},
		{"address", Int64, Dict, "", false, "The address that the racing accesses share."},
		{"accesses", Int64, Dict, "count", false, "The number of accesses."},
	}}
	DeadlockSamples = &Table{Name: "deadlock_samples", Row: "one lock event of a deadlock", Key: key("sample"), Columns: []Column{
		experimentID, sampleNo,
		{"deadlock", Int64, Dict, "", false, "The deadlock."},
		{"lock_type", Int32, Dict, "", false, "The lock event's type, as recorded."},
		{"type", Int32, Dict, "", false, "The deadlock's type, as recorded."},
		{"address", Int64, Dict, "", false, "The lock's address."},
	}}
	PerfSamples = &Table{Name: "perf_samples", Row: "one sample of perf", Key: key("sample"), Columns: []Column{
		experimentID, sampleNo,
		{"event", Label, Dict, "", false, "The event, as perf names it. The metric of this name adds up the values; the metric `<event>.samples` counts the samples."},
		{"value", Int64, Dict, "", false, "The sample's period: the number of events since the previous sample; for clocks, in ns."},
		{"data_address", Int64, DictOrDelta, "", true, "The virtual data address."},
		{"weight", Int64, Dict, "", false, "The access's latency in cycles, 0 if not recorded."},
		{"data_source", Int64, Dict, "", true, "Where the data came from, as recorded."},
		{"physical_address", Int64, Dict, "", true, "The physical data address."},
		{"exact_pc", Int64, Dict, "", false, "1 if the stack's leaf is the very instruction that caused the sample (perf's EXACT_IP), 0 if it may be a later one."},
		{"parallelism", Int64, Dict, "", true, "How many of the recorded threads were on a CPU at the time; missing if unknown."},
		{"wall_ns", Int64, Dict, "ns", true, "The sample's share of its thread's time on CPUs, which context switches tell exactly; missing for samples that do not measure time."},
		{"latency_ns", Int64, Dict, "ns", true, "`value` divided by `parallelism`."},
	}}
	WaitSamples = &Table{Name: "wait_samples", Row: "one wait: a period in which a thread was off the CPU. Its stack is the one with which the thread was switched out", Key: key("sample"), Columns: []Column{
		experimentID, sampleNo,
		{"state", Int32, Dict, "", false, "The thread's state: 2 preempted (runnable, taken off its CPU), 3 runqueue (woken up, waiting for a CPU), 4 blocked, 5 disk (blocked, cannot be interrupted), 6 blocked, but the sum of the thread's waits with that stack (`perf record --off-cpu`), with the time of the recording's end. 1 (on) is not a wait, but a period on a CPU in which no sample was taken."},
		{"duration_ns", Int64, Delta, "ns", false, "How long the wait lasted, or the waits of a sum."},
		{"waker_sample", Int64, Dict, "", true, "The sample of the wake-up that ended the wait, with the stack of the thread that caused it; missing if none was recorded."},
	}}
	// ThreadStates also has rows for times in unknown states, which neither waits nor samples can
	// show.
	ThreadStates = &Table{Name: "thread_states", Row: "one period in which one thread was in one state", Key: key("process", "thread_id", "t0_ns"), Columns: []Column{
		experimentID,
		{"process", Int32, Dict, "", true, "The process; missing for a thread outside of the process namespace in which perf ran; such threads have their id on the whole machine."},
		{"thread_id", Int64, Dict, "", false, "The kernel's id of the thread."},
		{"t0_ns", Int64, Delta, "ns", false, "The period's start, from the founder's start."},
		{"t1_ns", Int64, Delta, "ns", false, "The period's end, from the founder's start."},
		{"state", Label, Dict, "", false, "`on` (on a CPU), `preempted` (runnable, taken off its CPU), `runqueue` (woken up, waiting for a CPU), `blocked`, `disk` (blocked, cannot be interrupted) or `unknown`."},
		{"cpu", Int32, Dict, "", true, "The CPU that the thread was on, or from which it was switched out."},
		{"wait_sample", Int64, Delta, "", true, "The sample that represents the period: `wait_samples.sample`; missing if the state is not a wait."},
		{"waker_thread_id", Int64, Dict, "", true, "The thread that woke this one up at the end of the period; if an interrupt did, the thread that it found on the CPU (the view `wakers` tells these apart)."},
		{"waker_sample", Int64, Dict, "", true, "The sample of that wake-up."},
		{"border", Label, Dict, "", false, "Why the state is unknown: `start` (before the thread's first switch), `end` (after its last), `loss` (records were lost), `chain` (a switch is missing); `exit` if the thread ended with a known state; else empty."},
	}}
	EventFormats = &Table{Name: "event_formats", Row: "one field of the samples of one tracepoint, as the recording describes it", Key: key("event", "position"), Columns: []Column{
		experimentID,
		{"event", String, Dict, "", false, "The event: `perf_samples.event`."},
		{"system", String, Dict, "", false, "The system (group) that the tracepoint belongs to, such as `sched`."},
		{"position", Int32, Dict, "", false, "The field's number among the stored fields of the event, from 0. Fields that other columns repeat are not stored."},
		{"field", String, Dict, "", false, "The field's name."},
		{"type", String, Dict, "", false, "The field's type in C, as the kernel declares it."},
		{"code_offset", Int32, Dict, "bytes", false, "The field's offset in a sample's data."},
		{"size", Int32, Dict, "bytes", false, "The field's size in a sample's data."},
		{"signed", Bool, Plain, "", false, "Whether the field's numbers are signed."},
		{"elements", Int32, Dict, "", false, "How many elements the field has; 0 if that differs between samples."},
		{"dynamic", Bool, Plain, "", false, "Whether the field only says where in the sample's data its content is."},
		{"is_text", Bool, Plain, "", false, "Whether the field's values are in `event_fields.text`; otherwise they are in `event_fields.number`."},
	}}
	EventFields = &Table{Name: "event_fields", Row: "one field of one sample of a tracepoint; `event_formats` describes it", Key: key("sample", "position"), Columns: []Column{
		experimentID, sampleNo,
		{"position", Int32, Dict, "", false, "Which field of the sample's event: `event_formats.position`."},
		{"number", Int64, DictOrDelta, "", true, "The field's value; pointers and unsigned 64-bit numbers are stored as signed numbers with the same bits. Missing for texts."},
		{"text", String, Dict, "", true, "The field's text: for arrays of characters, the text up to the first NUL; for other arrays, hexadecimal, such as `0x1,0x2` if an element has several bytes. Missing for numbers."},
	}, Joined: "LEFT JOIN perf_samples p USING (experiment_id, sample) LEFT JOIN event_formats d ON d.experiment_id = t.experiment_id AND d.event = p.event AND d.position = t.position", Computed: []DerivedColumn{
		{"event", String, "p.event", "The sample's event."},
		{"field", String, "d.field", "The field's name."},
	}}
	Counts = &Table{Name: "counts", Row: "what one counter of `perf stat record` counted in one interval. An event may have a counter on each CPU, or for each thread", Key: key("interval_no", "event", "cpu", "thread_id"), Columns: []Column{
		experimentID,
		{"interval_no", Int32, Dict, "", false, "The interval's number, from 1. Without `perf stat -I`, there is only one."},
		{"t0_ns", Int64, Dict, "ns", false, "The interval's start, from when perf began to count."},
		{"t1_ns", Int64, Dict, "ns", false, "The interval's end, from when perf began to count."},
		{"event", Label, Dict, "", false, "The event, as perf names it; a second event of the same name is `<event>_2`."},
		{"cpu", Int32, Dict, "", true, "The CPU on which the counter counted; missing if it counted on all of them."},
		{"thread_id", Int64, Dict, "", true, "The thread that the counter counted, and those that it created; missing if it counted all threads."},
		{"thread_name", String, Dict, "", true, "The thread's name; missing if it was not recorded."},
		{"value", Int64, Plain, "", true, "The count, as the counter counted it (not scaled); missing if perf could not read it."},
		{"enabled_ns", Int64, Plain, "ns", true, "How long the counter was enabled; missing if there was none, because the machine cannot count the event."},
		{"running_ns", Int64, Plain, "ns", true, "How long the counter was counting; less than `enabled_ns` if counters shared the hardware; missing as `enabled_ns`."},
		{"unit", Label, Dict, "", false, "The unit in which perf shows the event, such as `msec`; empty for plain counts."},
		{"scale", String, Dict, "", false, "The factor that converts values to this unit, such as `1e-06`."},
	}}
	RecordingGaps = &Table{Name: "recording_gaps", Row: "one period in which events that happened may not be in the recording", Key: key("gap"), Columns: []Column{
		experimentID,
		{"gap", Int32, Delta, "", false, "The number of the period within the experiment, from 0, in order of `t0_ns`."},
		{"t0_ns", Int64, Delta, "ns", false, "Its start, from the founder's start."},
		{"t1_ns", Int64, Delta, "ns", false, "Its end."},
		{"cpu", Int32, Dict, "", true, "The CPU whose records are missing; missing if the records of several CPUs are."},
		{"reason", Label, Dict, "", false, "`lost` (records were lost) or `cpus` (some CPUs were not recorded)."},
	}}
	PprofSamples = &Table{Name: "pprof_samples", Row: "one value of a sample of a profile in pprof's format", Key: key("sample"), Columns: []Column{
		experimentID, sampleNo,
		{"type", Label, Dict, "", false, "The type of the value, which is also the metric's name."},
		{"value", Int64, Dict, "the metric's", false, "The value."},
		{"labels", String, Dict, "", false, "The sample's labels, as a JSON object. A label's value is a text, a number, or an object of a number `num` and its `unit`; it is a list of these if the label occurs several times. `{}` if there are no labels."},
	}}
	Overview = &Table{Name: "overview", Row: "the resources that a process used between two sample points", Key: key("process", "point"), Columns: append([]Column{
		experimentID, process,
		{"point", Int32, Delta, "", false, "The sample point's number, from 1."},
		{"label", String, Dict, "", false, "The label of the sample point that ends the interval."},
		{"t0_ns", Int64, Delta, "ns", false, "The start of the interval, from the founder's start."},
		{"t1_ns", Int64, Delta, "ns", false, "The end of the interval, from the founder's start."},
	}, overviewColumns()...)}
)

// OverviewTimes and OverviewCounts name the values of an overview record in
// file order (gprofng-experiment 3.5).
var (
	OverviewTimes  = []string{"real", "user", "system", "trap", "text_fault", "data_fault", "kernel_fault", "lock", "sleep", "cpu_wait", "stopped"}
	OverviewCounts = []string{"minor_faults", "major_faults", "swaps", "blocks_in", "blocks_out", "messages_sent", "messages_received", "signals", "voluntary_switches", "involuntary_switches", "system_calls", "characters"}
)

func overviewColumns() []Column {
	var cs []Column
	for _, n := range OverviewTimes {
		cs = append(cs, Column{n + "_ns", Int64, Delta, "ns", false, "Time in the state `" + n + "`."})
	}
	for _, n := range OverviewCounts {
		cs = append(cs, Column{n, Int64, Delta, "count", false, "Number of " + n + "."})
	}
	return cs
}

// StateNames and BorderNames are the labels of thread_states.state and border.
var (
	StateNames  = []string{"unknown", "on", "preempted", "runqueue", "blocked", "disk"}
	BorderNames = []string{"", "start", "end", "loss", "chain", "exit"}
	// GapReasons are the labels of recording_gaps.reason.
	GapReasons = []string{"lost", "cpus"}
)
