package schema

var experimentID = Column{"experiment_id", Label, Dict, "", false, "The experiment: 16 hex digits derived from the content of the recording."}

var (
	process  = Column{"process", Int32, Dict, "", false, "The process within the experiment: 1 is the founder, descendants follow in load order."}
	modes    = Column{"modes", Int32, Dict, "", false, "The representations for which the row holds: a sum of 1 (user), 2 (expert) and 4 (machine), and of 8, 16 and 32 for the same with inlined functions as frames of their own (S10)."}
	metric   = Column{"metric", Label, Dict, "", false, "The metric's name; `metrics` has its title and unit."}
	stackNo  = Column{"stack", Int32, DictOrDelta, "", false, "The recorded stack: `recorded_stacks.stack`."}
	sampleNo = Column{"sample", Int64, Delta, "", false, "The sample's number within the experiment; `samples` has its time, thread and stack."}
)

// functionNo is in tables that refer to functions, in place of their identifiers, which
// are hashes: ofFunction has those.
var (
	functionNo = Column{"function_no", Int32, PlainOrDelta, "", false, "The function's number within the experiment, from 0."}
	functionID = Computed{"function_id", Int64, "f.function_id", "The function."}
	locationID = Computed{"location_id", Int64, "l.location_id", "The instruction: `locations.location_id`."}
)

// ListedIn is the column of the batch's first experiment in tables that its experiments
// share rows of.
const ListedIn = "listed_in"

// listedIn and listing are in tables whose rows the experiments of a batch share, and in
// those that say which rows an experiment has (Table.Links).
var (
	listedIn = Column{ListedIn, Label, Dict, "", false, "The first experiment of the batch, which here stands for the batch."}
	listing  = Column{"listing", Int32, Dict, "", false, "The list's number within the batch, from 0."}
	content  = Column{"content", Int64, Plain, "", true, "Hash of the list's rows; missing if another row before it in the batch has the same list."}
)

const (
	ofFunction = "LEFT JOIN functions f USING (experiment_id, function_no)"
	ofLocation = "LEFT JOIN locations l USING (experiment_id, location)"
)

// rawStackID makes a number that tells recorded stacks of a store apart.
var rawStackID = Computed{"raw_stack_id", Int64, "xor((('0x' || experiment_id)::UBIGINT >> 1)::BIGINT, stack::BIGINT)", "The recorded stack: made of `experiment_id` and `stack`, different for each recorded stack of a store."}

// Tables lists every table, in the order of the reference page.
var Tables = []*Table{
	Experiments, Processes, Metrics, Problems, Recordings,
	LoadObjects, Segments, Modules, Functions, Locations, InlineFrames, Listings, Instructions, SourceFiles, SourceLines,
	RecordedStacks, StackTree, TreeFrames,
	Samples, ClockSamples, HeapSamples, IOSamples, IOFiles, SyncSamples, HWCSamples, OMPSamples, RaceSamples, DeadlockSamples, PerfSamples, PprofSamples, Overview,
	DataObjects, MemoryRegions, DataSamples,
	StackValues, UsageValues, FunctionValues, CallValues, CallNodes, TreeValues, LineValues, SourceValues, PCValues, ModuleValues, ObjectValues, DataValues, FunctionRollup, FunctionSums,
}

// Experiments and what they consist of.
var (
	Experiments = &Table{Name: "experiments", Summary: true, Row: "one experiment: a founder process and its descendants", Key: key(), Columns: []Column{
		experimentID,
		{"experiment", String, Dict, "", false, "The base name of the recording."},
		{"format", String, Dict, "", false, "The input format: `gprofng`, `perf` or `pprof`."},
		{"format_version", String, Dict, "", false, "The version that the recording states."},
		{"collector", String, Dict, "", false, "The version of the tool that recorded."},
		{"host", String, Dict, "", false, "The machine's name."},
		{"os", String, Dict, "", false, "The machine's operating system."},
		{"arch", String, Dict, "", false, "The machine's architecture as recorded."},
		{"cpus", Int32, Dict, "count", false, "The number of CPUs."},
		{"clock_mhz", Int32, Dict, "MHz", false, "The CPUs' highest clock rate, 0 if not recorded."},
		{"page_size", Int64, Dict, "bytes", false, "The size of a memory page."},
		{"word_bits", Int32, Dict, "", false, "32 or 64: the width of an address."},
		{"target", String, Dict, "", false, "The program's name."},
		{"command", String, Dict, "", false, "The founder's command line."},
		{"directory", String, Dict, "", false, "The founder's working directory."},
		{"started", Time, Plain, "", true, "When the founder started (UTC)."},
		{"duration_ns", Int64, Delta, "ns", false, "From the founder's start to the last event of any process."},
		{"processes", Int32, Dict, "count", false, "The number of processes with data."},
		{"samples", Int64, Delta, "count", false, "The number of samples of all kinds."},
		{"status", String, Dict, "", false, "`complete`, `unclosed` (the collector did not finish it), `partial` (data was lost) or `failed` (no samples could be read); views say `summary` where only the sums by function are kept (`forget --keep-rollups`)."},
		{"cache_line_size", Int64, Dict, "bytes", true, "The size of a line of the machine's data caches, of the one next to the processor where they differ; missing if not recorded, as in experiments of gprofng."},
		{"comment", String, Dict, "", false, "What a profile says of itself, line by line: its comments, and the address of what describes it."},
	}, Joined: "JOIN experiment_names n USING (experiment_id)", Computed: []Computed{
		{"path", String, "n.path", "Where the recording was."},
		{"ingested", Time, "n.ingested", "When it was put into the store (UTC)."},
	}}
	Processes = &Table{Name: "processes", Summary: true, Row: "one process of an experiment", Key: key("process"), Columns: []Column{
		experimentID, process,
		{"lineage", String, Dict, "", false, "How it descends from the founder, e.g. `_f2_x1`; empty for the founder."},
		{"pid", Int64, Delta, "", false, "The process id."},
		{"ppid", Int64, Delta, "", false, "The parent's process id."},
		{"target", String, Dict, "", false, "The program's name."},
		{"command", String, Dict, "", false, "The command line."},
		{"started_ns", Int64, Delta, "ns", false, "Start, relative to the founder's."},
		{"duration_ns", Int64, Delta, "ns", false, "From its start to its last event."},
		{"samples", Int64, Delta, "count", false, "The number of samples."},
		{"status", String, Dict, "", false, "As `experiments.status`, for this process."},
	}}
	Metrics = &Table{Name: "metrics", Summary: true, Row: "one metric that an experiment's data can provide, even if no event was recorded", Key: key("metric"), Columns: []Column{
		experimentID, metric,
		{"title", String, Dict, "", false, "The metric's title in the Performance Analyzer."},
		{"unit", String, Dict, "", false, "The base unit of its values: ns, bytes or count."},
		{"kind", String, Dict, "", false, "The kind of samples it is computed from."},
		{"data_objects", Bool, Plain, "", false, "Whether its samples are accesses to memory, so that they have data objects (S27)."},
		{"preferred", Bool, Plain, "", false, "Whether reports show it when no metric is named, as a profile may say; of several in an experiment, and where none is, they show the first by the order of metrics."},
	}}
	Problems = &Table{Name: "problems", Summary: true, Row: "one thing that is wrong or missing in a recording", Key: key("problem"), Columns: []Column{
		experimentID,
		{"problem", Int32, Delta, "", false, "The problem's number within the experiment."},
		{"severity", String, Dict, "", false, "`error`: records were lost or are unreadable; `warning`: names were not found, stacks end early, or the collector warned; `info`: a remark."},
		{"process", Int32, Dict, "", false, "The process concerned; 0 if the whole experiment is."},
		{"file", String, Dict, "", false, "The file, relative to the recording; or a load object's path."},
		{"offset", Int64, Plain, "bytes", true, "Where in the file."},
		{"reason", String, Dict, "", false, "A short constant name of the reason, for grouping."},
		{"message", String, Dict, "", false, "The reason in words."},
		{"count", Int64, Delta, "count", false, "How many things (packets, events, links) it touches."},
	}}
	Recordings = &Table{Name: "recordings", Row: "what no other table has of a recording as a whole, or of one of its processes: with that its stacks can be given better symbols when it is gone", Key: key("part"), Columns: []Column{
		experimentID,
		{"part", Int32, Delta, "", false, "0 for the recording as a whole, else the process."},
		{"content", String, Plain, "", false, "JSON for this program, which may change what it holds."},
	}}
)

// Program structure.
var (
	LoadObjects = &Table{Name: "load_objects", Summary: true, Row: "one load object: executable, shared object, vdso, generated code", Key: key("load_object_id"), Columns: []Column{
		experimentID,
		{"load_object_id", Int64, Plain, "", false, "Hash of the build-id; without one, of the name and the content of its file; without a file, of path and mapping."},
		{"name", String, Dict, "", false, "The base name; artificial ones stand in angle brackets."},
		{"path", String, Dict, "", false, "The path recorded."},
		{"build_id", String, Dict, "", false, "The build-id in hex, empty if there is none."},
		{"checksum", Int64, Plain, "", false, "The recorded checksum, 0 if not computed."},
		{"kind", String, Dict, "", false, "`elf`, `dynamic`, `java`, `artificial` or `unknown`."},
		{"symbols", String, Dict, "", false, "Where its symbols came from: `archive`, `path`, `cache` (found by its build-id), `recording`, or `none`."},
		{"functions", Int64, Delta, "count", false, "The number of functions its symbol tables name."},
		{"lines", Bool, Plain, "", false, "Whether its source lines are known: debug information was found."},
	}}
	// A recording may report a mapping twice: segments have no key.
	Segments = &Table{Name: "segments", Row: "one mapping of a load object in a process, with its life time (S1)", Key: nil, Columns: []Column{
		experimentID, process,
		{"load_object_id", Int64, Dict, "", false, "The load object mapped."},
		{"address", Int64, Plain, "", false, "The first address."},
		{"size", Int64, Plain, "bytes", false, "The size."},
		{"file_offset", Int64, Plain, "bytes", false, "The offset in the object's file."},
		{"permissions", Int32, Dict, "", false, "A sum of 1 (read), 2 (write), 4 (execute), 8 (shared)."},
		{"loaded_ns", Int64, Plain, "ns", false, "When it was mapped, from the founder's start."},
		{"unloaded_ns", Int64, Plain, "ns", true, "When it was unmapped; missing if it was not."},
	}}
	Modules = &Table{Name: "modules", Row: "one compilation unit that a function on a stack belongs to", Key: key("module_id"), Columns: []Column{
		experimentID,
		{"module_id", Int64, Dict, "", false, "Hash of load object and name."},
		{"load_object_id", Int64, Dict, "", false, "Its load object."},
		{"name", String, Dict, "", false, "The unit's path; `(unknown)` for functions without debug information."},
		{"language", String, Dict, "", false, "The source language, empty if unknown."},
	}}
	Functions = Table{Name: "functions", Row: "one function on a stack or inlined there, the function it was made from, and the artificial ones", Key: key("function_id"), Columns: []Column{
		experimentID,
		functionNo.as(Delta),
		{"function_id", Int64, Dict, "", false, "Hash of load object, module, linkage name and address."},
		{"load_object_id", Int64, Dict, "", false, "Its load object."},
		{"module_id", Int64, Dict, "", false, "Its module."},
		{"name", String, Dict, "", false, "The name for people: demangled, clone suffixes readable."},
		{"other_gprofng_name", String, Dict, "", true, "`gprofng_name` where it is not `name`."},
		{"other_perf_name", String, Dict, "", true, "`perf_name` where it is not `name`."},
		{"other_linkage_name", String, Dict, "", true, "`linkage_name` where it is not `name`."},
		{"other_aliases", String, Dict, "", true, "`aliases` where they are not `linkage_name`."},
		{"kind", String, Dict, "", false, "`normal`, `static`, `plt`, `outline`, `clone`, `body`, `dynamic`, `java`, `kernel`, `artificial`, `unknown`, or `inlined`: the load object has no such function, only code of it inside others."},
		{"address", Int64, Dict, "", false, "The link-time virtual address, as in the symbol table (S2)."},
		{"offset", Int64, Dict, "bytes", false, "The offset in the load object's file."},
		{"size", Int64, Dict, "bytes", false, "The size."},
		{"clone_of", Int64, Dict, "", true, "Of a clone, the function it is a variant of (S9); missing if the load object no longer has it."},
		{"outline_of", Int64, Dict, "", true, "Of an outline function, the function it was cut out of (S12)."},
		{"body_of", Int64, Dict, "", true, "Of the body of a parallel region, the function that holds the region (S11)."},
		{"body_line", Int32, Dict, "", false, "Of a body, its first source line; 0 if unknown, and for other functions."},
		{"start_line", Int32, Dict, "", false, "The line where the source declares it, 0 if unknown."},
	}, Computed: []Computed{
		{"gprofng_name", String, "COALESCE(other_gprofng_name, name)", "The name for people of the alias that gprofng would show (S4)."},
		{"perf_name", String, "COALESCE(other_perf_name, name)", "The name for people of the alias that perf would show (S4)."},
		{"linkage_name", String, "COALESCE(other_linkage_name, name)", "The name in the symbol table; empty for artificial and static ones."},
		{"aliases", String, "COALESCE(other_aliases, other_linkage_name, name)", "All linkage names at its address, separated by tabs, since Go's have blanks, in byte order (S4)."},
	}}.withFacts("function_facts", "function_no")
	Locations = &Table{Name: "locations", Row: "one instruction on a stack, or that accessed memory; one in a body twice, as user mode shows it too", Key: key("location"), Columns: []Column{
		experimentID,
		{"location", Int32, Delta, "", false, "Its number within the experiment, from 0: other tables refer to it."},
		{"other_location_id", Int64, Plain, "", true, "`location_id` where that is not the hash of load object and offset."},
		{"load_object_id", Int64, Dict, "", false, "Its load object."},
		functionNo,
		{"offset", Int64, DictOrDelta, "bytes", false, "The offset in the load object's file; in `<Unknown>`, the PC itself."},
		{"instruction", Int64, Dict, "bytes", true, "Where the recorded PC starts no instruction, the offset of the one that it stands for: collectors guess where the call before a return address starts."},
		{"file", String, Dict, "", false, "The source file's path, empty if unknown."},
		{"line", Int32, Dict, "", false, "The source line, 0 if unknown."},
		{"discriminator", Int32, Dict, "", false, "What tells the parts of a line apart, such as the bodies of two loops; 0 if the compiler does not."},
		{"reason", String, Dict, "", false, "Why the function (S15) or its instruction (S22) is unknown; empty if both are known."},
	}, Joined: ofFunction, Computed: []Computed{
		{"location_id", Int64, `COALESCE(other_location_id, path_part(t.load_object_id, t."offset"))`, "Hash of load object and offset, and of the function where that does not hold the offset or is in no file: the same instruction has the same one in every experiment."},
		functionID.as("Its function; in user mode, of an instruction in a body, the function the body was made from (S11)."),
	}}
	InlineFrames = &Table{Name: "inline_frames", Row: "one level of the inline chain of an instruction that was inlined (S10)", Key: key("location", "depth"), Columns: []Column{
		experimentID,
		{"location", Int32, Delta, "", false, "The instruction: `locations.location`."},
		{"depth", Int32, Dict, "", false, "0 is the outermost inlined function, which the location's function calls at the location's line."},
		functionNo,
		{"file", String, Dict, "", false, "The source file of the place reached in it, empty if unknown: the call of the next level or, at the last, the instruction's own line."},
		{"line", Int32, Plain, "", false, "The line there, 0 if unknown."},
		{"discriminator", Int32, Dict, "", false, "As `locations.discriminator`, of that line."},
	}, Joined: ofFunction + " " + ofLocation, Computed: []Computed{
		locationID,
		functionID.as("The inlined function: the load object's own of that name, if it has one that can be called."),
		{"function", String, "f.name", "Its name for people, `(unknown)` if unknown."},
	}}
	Listings = &Table{Name: "listings", Row: "one function of which instructions are known", Key: key("function_no"), Columns: []Column{
		experimentID,
		{"load_object_id", Int64, Dict, "", false, "Its load object."},
		functionNo.as(Delta),
		listedIn, listing, content,
	}}
	Instructions = &Table{Name: "instructions", Row: "one instruction of a function on a stack or that accessed memory: all those of the functions with the largest values, up to some 25000; near PCs on stacks only where a function is a static region or longer than 64 KiB; of the others those on stacks, or that accessed memory", Key: key("function_no", "offset"), Columns: []Column{
		listedIn, listing.as(Delta),
		{"offset", Int64, Delta, "bytes", false, "As `locations.offset`: in the load object's file; in generated code, from the function's start."},
		{"size", Int32, Dict, "bytes", false, "Its length; 0 where the code is not in the file."},
		{"text", String, Dict, "", false, "The instruction in the syntax of the GNU tools (AT&T for x86); undecodable bytes are shown as bytes; `(not in the file)` at a PC in a part of the code that the file lacks."},
		{"target", Int64, PlainOrDelta, "bytes", true, "Where a direct call or jump goes, as `offset`; missing for other instructions and outside the file."},
		{"target_name", String, Dict, "", false, "The function that a call or jump leads to, with the distance from its start if that is not 0, or `@plt` when it goes through the procedure linkage table; empty within the function, or if unknown."},
		{"file", String, Dict, "", false, "The source file's path, as `locations.file`; empty if unknown."},
		{"line", Int32, Delta, "", false, "The source line, 0 if unknown."},
	}, Links: Listings, Joined: ofFunction, Computed: []Computed{functionID}}
	SourceFiles = &Table{Name: "source_files", Row: "one source file that was found, of those in which lines have values", Key: key("file"), Columns: []Column{
		experimentID,
		{"file", String, Dict, "", false, "The path, as `locations.file`."},
		listedIn, listing, content,
	}}
	SourceLines = &Table{Name: "source_lines", Row: "one line of a source file that was found, of those in which lines have values", Key: key("file", "line"), Columns: []Column{
		listedIn, listing.as(Delta),
		{"line", Int32, Delta, "", false, "The line, from 1."},
		{"text", String, Plain, "", false, "Its text."},
	}, Links: SourceFiles}
)

// Stacks.
var (
	// A stack in a mode is the path from a node to the root, without what the mode does
	// not show.
	RecordedStacks = &Table{Name: "recorded_stacks", Row: "one distinct recorded stack of a process while the mappings it touches stay the same", Key: key("stack"), Columns: []Column{
		experimentID,
		{"stack", Int32, Delta, "", false, "Its number within the experiment, in the order of first samples."},
		process,
		{"from_ns", Int64, Dict, "ns", true, "The time from which its words mean these stacks; missing: from the start."},
		{"node", Int32, Delta, "", false, "The node of `stack_tree` that it is the path to."},
		{"user_up", Int32, Dict, "", false, "How far before `node` is the node of its leaf in user mode."},
		{"expert_up", Int32, Dict, "", false, "Likewise in expert mode."},
		{"machine_up", Int32, Dict, "", false, "Likewise in machine mode."},
		{"reason", String, Dict, "", false, "Why the stack is empty or cut, empty if it is neither."},
		{"first_up", Int32, Dict, "", false, "How far before it the first row of the same words is, which mean something else here: other code is mapped, or the thread is one of the Java virtual machine's own; 0 for that row itself."},
		{"form", Int32, Dict, "", true, "How it was recorded: the place in the list `forms` of `recordings.content`, from 0; missing if no stack was."},
	}, Computed: []Computed{rawStackID}}
	StackTree = &Table{Name: "stack_tree", Row: "one node of the tree of an experiment's stacks, merged from their roots: a frame and the path to it", Key: key("node"), Columns: []Column{
		experimentID,
		{"node", Int32, Delta, "", false, "Its number: a node's are followed by those of the nodes below it. 0 is the root, which is no frame."},
		{"up", Int32, PlainOrDelta, "", false, "How far before it its parent is: the frame's caller. 0 for the root."},
		{"below", Int32, Dict, "count", false, "How many nodes are below it: the next so many."},
		{"frame", Int32, PlainOrDelta, "", false, "Its frame; 0 for the root."},
	}, Computed: []Computed{
		{"parent", Int32, "CASE WHEN up > 0 THEN node - up END", "Its parent; missing for the root."},
		{"last", Int32, "node + below", "The last node below it, itself if there is none: a stack passes the node if the node of its leaf lies between the two."},
	}}
	TreeFrames = &Table{Name: "tree_frames", Row: "one frame as nodes of the tree of stacks have it: what was recorded, and what the rules made of it in each mode", Key: key("frame"), Columns: []Column{
		experimentID,
		{"frame", Int32, Delta, "", false, "Its number within the experiment, from 0, which is the frame of the root."},
		{"part", Label, Dict, "", false, "Where it was recorded: `native`, `java` or `openmp`; empty for a frame that a rule put in."},
		{"word", Int64, DictOrDelta, "", true, "The PC or marker; of a Java frame the method's id; missing for a frame that a rule put in."},
		{"bci", Int64, Delta, "", true, "The byte code index of a Java frame."},
		{"location", Int32, Delta, "", true, "What the word means by itself, before any rule: `locations.location`; missing for a marker and without a word."},
		{"user_location", Int32, Dict, "", true, "The instruction that user mode shows; missing if that is what machine mode does, -1 if it does not show the frame where machine mode does."},
		{"user_rule", Label, Dict, "", false, "The rule that put the frame in, changed or dropped it in user mode; empty for a frame as recorded."},
		{"expert_location", Int32, Dict, "", true, "Likewise in expert mode."},
		{"expert_rule", Label, Dict, "", false, "Likewise in expert mode."},
		{"machine_location", Int32, Delta, "", true, "The instruction that machine mode shows; missing if it does not show the frame."},
		{"machine_rule", Label, Dict, "", false, "The rule in machine mode."},
	}, Computed: []Computed{
		{"user_shown", Int32, "NULLIF(COALESCE(user_location, machine_location), -1)", "The instruction that user mode shows; missing if it does not show the frame."},
		{"expert_shown", Int32, "NULLIF(COALESCE(expert_location, machine_location), -1)", "Likewise in expert mode."},
	}}
)

// Samples.
var (
	Samples = &Table{Name: "samples", Row: "one recorded event", Key: key("sample"), Columns: []Column{
		experimentID, sampleNo,
		{"kind", Label, Dict, "", false, "`clock`, `heap`, `io`, `sync`, `hwc`, `omp`, `race`, `deadlock` or `perf`: the table `<kind>_samples` has the rest."},
		process,
		{"thread_id", Int64, Dict, "", false, "The kernel's id of the thread."},
		{"cpu", Int32, Dict, "", false, "The CPU."},
		{"time_ns", Int64, Delta, "ns", false, "When, from the founder's start; of a traced call, its end."},
		stackNo,
	}, Computed: []Computed{rawStackID}}
	ClockSamples = &Table{Name: "clock_samples", Row: "one clock-profiling event", Key: key("sample"), Columns: []Column{
		experimentID, sampleNo,
		{"state", Int32, Dict, "", false, "The micro-state: 0 user, 1 system, 2 trap, 3 text fault, 4 data fault, 5 kernel fault, 6 lock, 7 sleep, 8 CPU wait, 9 stopped, 10 user+system (Linux), 11 kernel."},
		{"duration_ns", Int64, Dict, "ns", false, "Ticks times the requested interval."},
		{"omp_state", Int32, Dict, "", false, "The OpenMP state recorded with the stack, -1 if there is none."},
	}}
	HeapSamples = &Table{Name: "heap_samples", Row: "one heap call", Key: key("sample"), Columns: []Column{
		experimentID, sampleNo,
		{"operation", Int32, Dict, "", false, "0 malloc, 1 free, 2 realloc, 3 mmap, 4 munmap."},
		{"size", Int64, Dict, "bytes", false, "The size asked for; 0 for free."},
		{"address", Int64, Delta, "", false, "The block's address."},
		{"old_address", Int64, PlainOrDelta, "", false, "realloc: the address before."},
		{"leaked", Int64, Dict, "bytes", false, "How much of the block was never freed."},
		{"freed", Int64, Dict, "bytes", false, "The size of the traced blocks that this call freed."},
	}}
	IOSamples = &Table{Name: "io_samples", Row: "one I/O call", Key: key("sample"), Columns: []Column{
		experimentID, sampleNo,
		{"operation", Int32, Dict, "", false, "0 read, 1 write, 2 open, 3 close, 4 other; 5 to 9 the same with an error."},
		{"fd", Int32, Dict, "", false, "The file descriptor."},
		{"bytes", Int64, Dict, "bytes", false, "Bytes moved; negative, as recorded, for calls that failed."},
		{"duration_ns", Int64, Delta, "ns", false, "How long it took."},
		{"metric_ns", Int64, Delta, "ns", false, "The duration in whole microseconds, as the metrics count it."},
		{"file", Int32, Dict, "", false, "The file: `io_files.file`."},
	}}
	IOFiles = &Table{Name: "io_files", Row: "one file as one process used it from open to close", Key: key("process", "file"), Columns: []Column{
		experimentID,
		{"file", Int32, Delta, "", false, "Its number within the experiment: 1 to 3 the standard streams and 4 other activity, of any process, from 10 on the files opened; -1 for calls on a descriptor that is not open."},
		process,
		{"name", String, Dict, "", false, "Its name."},
		{"file_system", String, Dict, "", false, "The kind of file system, `N/A` if unknown."},
	}}
	SyncSamples = &Table{Name: "sync_samples", Row: "one wait for a synchronization object", Key: key("sample"), Columns: []Column{
		experimentID, sampleNo,
		{"duration_ns", Int64, Delta, "ns", false, "How long it waited."},
		{"metric_ns", Int64, Delta, "ns", false, "The duration in whole microseconds, as the metrics count it."},
		{"object", Int64, Dict, "", false, "The object's address."},
	}}
	HWCSamples = &Table{Name: "hwc_samples", Row: "one hardware counter overflow", Key: key("sample"), Columns: []Column{
		experimentID, sampleNo,
		{"counter", Label, Dict, "", false, "The counter: its metric's name."},
		{"value", Int64, Dict, "", false, "The events counted, in the metric's unit; 0 for an invalid sample."},
		{"data_address", Int64, DictOrDelta, "", true, "The virtual data address, or a code below 255 that says why there is none."},
		{"physical_address", Int64, Dict, "", true, "The physical data address."},
		{"trigger_pc", Int64, Dict, "", true, "The candidate trigger PC."},
		{"latency", Int64, Dict, "cycles", true, "The access's latency."},
		{"data_source", Int64, Dict, "", true, "Where the data came from, as recorded."},
	}}
	OMPSamples = &Table{Name: "omp_samples", Row: "one OpenMP event", Key: key("sample"), Columns: []Column{
		experimentID, sampleNo,
		{"event", Int32, Dict, "", false, "The packet type: 9 fork, 12 region, 14 task, 15 region description, 16 task description."},
		{"region", Int64, Dict, "", false, "The parallel region."},
		{"parent_region", Int64, Dict, "", false, "The region around it."},
		{"task", Int64, Dict, "", false, "The task."},
		{"parent_task", Int64, Dict, "", false, "The task that made it."},
		{"region_pc", Int64, Dict, "", false, "The region's PC."},
	}}
	RaceSamples = &Table{Name: "race_samples", Row: "one access that takes part in a data race", Key: key("sample"), Columns: []Column{
		experimentID, sampleNo,
		{"race", Int64, Dict, "", false, "The race."},
		{"type", Int32, Dict, "", false, "The access's type, as recorded."},
		{"address", Int64, Dict, "", false, "The address raced for."},
		{"accesses", Int64, Dict, "count", false, "How many accesses."},
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
		{"event", Label, Dict, "", false, "The event, as perf names it: the metric of its values; `<event>.samples` counts them."},
		{"value", Int64, Dict, "", false, "The sample's period: events since the one before, of clocks ns."},
		{"data_address", Int64, DictOrDelta, "", true, "The virtual data address."},
		{"weight", Int64, Dict, "", false, "The access's latency in cycles, 0 if not recorded."},
		{"data_source", Int64, Dict, "", true, "Where the data came from, as recorded."},
		{"physical_address", Int64, Dict, "", true, "The physical data address."},
	}}
	PprofSamples = &Table{Name: "pprof_samples", Row: "one value of a sample of a profile in pprof's format", Key: key("sample"), Columns: []Column{
		experimentID, sampleNo,
		{"type", Label, Dict, "", false, "The type of the value: its metric's name."},
		{"value", Int64, Dict, "the metric's", false, "The value."},
		{"labels", String, Dict, "", false, "The sample's labels, an object in JSON: a text, a number, or a number `num` with its `unit`; a list of them if a label is there several times. `{}` if there are none."},
	}}
	Overview = &Table{Name: "overview", Row: "the resources a process used between two sample points", Key: key("process", "point"), Columns: append([]Column{
		experimentID, process,
		{"point", Int32, Delta, "", false, "The sample point's number, from 1."},
		{"label", String, Dict, "", false, "The label of the point that ends it."},
		{"t0_ns", Int64, Delta, "ns", false, "Its start, from the founder's start."},
		{"t1_ns", Int64, Delta, "ns", false, "Its end."},
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

// Data objects.
var (
	DataObjects = &Table{Name: "data_objects", Row: "one data object that a sample's access to memory hit, one around it, or one beside it in an aggregate that was hit", Key: key("data_object_id"), Columns: []Column{
		experimentID,
		{"data_object_id", Int64, Plain, "", false, "Hash of scope, descriptor and place in the aggregate."},
		{"parent_id", Int64, Dict, "", true, "The aggregate that it is an element of, or `<Scalars>`, `<Unknown>` or `<Total>`; missing for `<Total>`."},
		{"descriptor", String, Dict, "", false, "Type and name as the manual spells them (S28); of an element, after its aggregates' descriptors."},
		{"kind", String, Dict, "", false, "`total`, `scalars`, `unknown`, `unknown_element` (a reason), `aggregate`, `element` or `scalar`."},
		{"scope", String, Dict, "", false, "The load object, compilation unit or function in which it is known (S29); empty for artificial ones."},
		{"scope_kind", String, Dict, "", false, "`load object`, `compilation unit` or `function`; empty for artificial ones."},
		{"load_object_id", Int64, Dict, "", true, "The load object whose debug information describes it; missing for artificial ones."},
		{"name", String, Dict, "", false, "The name of the variable or member; empty if it has none."},
		{"type", String, Dict, "", false, "The type as the descriptor spells it."},
		{"offset", Int64, Delta, "bytes", true, "Where in its aggregate it begins; missing unless it is an element."},
		{"size", Int64, Dict, "bytes", true, "Its size; missing if unknown."},
		{"bit_offset", Int32, Dict, "bits", false, "Where in the byte at `offset` a bit field begins; 0 for others."},
		{"bit_size", Int32, Dict, "bits", false, "The width of a bit field; 0 for others."},
	}}
	MemoryRegions = &Table{Name: "memory_regions", Row: "one region of a process's memory in which data was accessed", Key: key("memory_region_id"), Columns: []Column{
		experimentID,
		{"memory_region_id", Int64, Plain, "", false, "Hash of process, kind, name, address, size and load object."},
		process,
		{"kind", String, Dict, "", false, "`segment` (of a file), `stack`, `heap` (what `brk` gives), `heap block` (an allocation that was traced), `anonymous`, `kernel` or `unknown`."},
		{"name", String, Dict, "", false, "The file, of a load object its name and the permissions there, or `[stack]` and `[heap]`; empty for other memory."},
		{"address", Int64, Plain, "", false, "The first address."},
		{"size", Int64, Plain, "bytes", false, "The size; 0 if unknown."},
		{"load_object_id", Int64, Dict, "", true, "Of a segment, its load object."},
	}}
	DataSamples = &Table{Name: "data_samples", Row: "one sample that has data objects: that of a counter or event whose samples are accesses to memory", Key: key("sample"), Columns: []Column{
		experimentID, sampleNo, dataObject, triggerAt, dataMethod,
		{"memory_region_id", Int64, Dict, "", true, "The region in which its data address lies; missing without one."},
		agreement, embedding,
	}}
	dataObject = Column{"data_object_id", Int64, Dict, "", false, "The data object: the innermost that is known, or the reason why none is."}
	triggerAt  = Column{"location_id", Int64, Dict, "", true, "The instruction that accessed memory; where it was not found, that of the recorded PC; missing without one."}
	dataMethod = Column{"method", Label, Dict, "", false, "What identified the data object: `variable` (debug information of the registers used), `global`, `stack`, `thread-local`, `register` (a type followed through registers), `container` (that, and what holds such a thing) or `address` (the data address alone); empty if nothing did."}
	agreement  = Column{"agreement", Label, Dict, "", false, "Whether the data address confirms what the instruction says: `agrees`, `disagrees` (something else lies there; between variables, and where the instruction says little, the address decided), or `unchecked` without an address that can."}
	embedding  = Column{"embedding_object_id", Int64, Dict, "", true, "The data object that lies at the data address, where the instruction names another one: what that is embedded in, the bytes that it was placed in, or with `disagrees` what lies there in its place; missing if it is the same one, or nothing is known there."}
)

// Values: sums of samples, computed once when the experiment is read.
var (
	value     = Column{"value", Int64, Dict, "the metric's", false, "The sum."}
	samples   = Column{"samples", Int64, Dict, "count", false, "The number of samples with a value other than 0."}
	exclusive = Column{"exclusive", Int64, Dict, "the metric's", false, "The value of the samples whose leaf is here."}
	inclusive = Column{"inclusive", Int64, Dict, "the metric's", false, "The value of the samples whose stack passes here, each counted once."}
	attribute = Column{"attributed", Int64, Dict, "the metric's", false, "The part of the value attributed to the pair or path."}
)

// The value tables.
var (
	StackValues = &Table{Name: "stack_values", Row: "one metric's value of one recorded stack", Key: key("stack", "metric"), Columns: []Column{
		experimentID, stackNo.as(Delta), metric, value, samples,
	}, Computed: []Computed{rawStackID}}
	UsageValues = &Table{Name: "usage_values", Row: "one metric's value of one thread on one CPU in one second", Key: key("process", "thread_id", "cpu", "second", "metric"), Columns: []Column{
		experimentID, process,
		{"thread_id", Int64, Dict, "", false, "The kernel's id of the thread."},
		{"cpu", Int32, Dict, "", false, "The CPU."},
		{"second", Int32, Delta, "s", false, "Whole seconds from the founder's start."},
		metric, value, samples,
	}}
	FunctionValues = &Table{Name: "function_values", Row: "one metric's value of one function, or of `<Total>`", Key: key("modes", "metric", "function_no"), Columns: []Column{
		experimentID, modes, metric, functionNo, exclusive, inclusive,
	}, Joined: ofFunction, Computed: []Computed{functionID}}
	CallValues = &Table{Name: "call_values", Row: "one metric's value of one neighbour of one function", Key: key("modes", "metric", "function_no", "relation", "other_no"), Columns: []Column{
		experimentID, modes, metric, functionNo,
		{"relation", Label, Dict, "", false, "`caller`, `self` or `callee`."},
		{"other_no", Int32, Dict, "", false, "The neighbour's number."},
		attribute,
	}, Joined: ofFunction + " LEFT JOIN functions o ON o.experiment_id = t.experiment_id AND o.function_no = t.function_no + t.other_no", Implied: impliedCalls, Computed: []Computed{
		functionID,
		{"other_id", Int64, "o.function_id", "The neighbour."},
	}}
	CallNodes = &Table{Name: "call_nodes", Row: "one node of the call tree, in any mode: the functions on a path from `<Total>`", Key: key("call_node"), Columns: []Column{
		experimentID,
		{"call_node", Int32, Delta, "", false, "Its number: a node's are followed by those of the nodes below it. 0 is the root, `<Total>`."},
		{"up", Int32, PlainOrDelta, "", false, "How far before it its parent is: the caller's node. 0 for the root."},
		{"below", Int32, Dict, "count", false, "How many nodes are below it: the next so many."},
		{"depth", Int32, Delta, "", false, "0 is the root."},
		functionNo.as(Dict),
	}, Joined: ofFunction, Computed: []Computed{
		functionID,
		{"parent", Int32, "CASE WHEN up > 0 THEN call_node - up END", "The caller's node; missing for the root."},
		{"last", Int32, "call_node + below", "The last node below it, itself if there is none."},
	}}
	TreeValues = &Table{Name: "tree_values", Row: "one metric's value of one node of the call tree", Key: key("modes", "metric", "call_node"), Columns: []Column{
		experimentID, modes, metric,
		{"call_node", Int32, Delta, "", false, "The node."},
		attribute, exclusive,
	}}
	LineValues = &Table{Name: "line_values", Implied: impliedLines, Row: "one metric's value of one source line of one function", Key: key("modes", "metric", "function_no", "file", "line"), Columns: []Column{
		experimentID, modes, metric, functionNo,
		{"file", String, Dict, "", false, "The source file's path, empty for instructions without line numbers."},
		{"line", Int32, Dict, "", false, "The line, 0 for instructions without line numbers."},
		exclusive, inclusive,
	}, Joined: ofFunction, Computed: []Computed{functionID}}
	SourceValues = &Table{Name: "source_values", Implied: impliedSources, Row: "one metric's value of one source line, of all functions with code there", Key: key("modes", "metric", "file", "line"), Columns: []Column{
		experimentID, modes, metric,
		{"file", String, Dict, "", false, "The source file's path, empty for instructions without line numbers."},
		{"line", Int32, Dict, "", false, "The line, 0 for instructions without line numbers."},
		exclusive, inclusive,
	}}
	PCValues = &Table{Name: "pc_values", Implied: impliedByFunction("locations", "location", ForPC), Row: "one metric's value of one instruction", Key: key("modes", "metric", "location"), Columns: []Column{
		experimentID, modes, metric,
		{"location", Int32, Delta, "", false, "The instruction: `locations.location`."},
		exclusive, inclusive,
	}}
	ModuleValues = &Table{Name: "module_values", Implied: impliedByFunction("functions", "module_id", ForModule), Row: "one metric's value of one module", Key: key("modes", "metric", "module_id"), Columns: []Column{
		experimentID, modes, metric,
		{"module_id", Int64, Dict, "", false, "The module."},
		exclusive, inclusive,
	}}
	ObjectValues = &Table{Name: "object_values", Row: "one metric's value of one load object", Key: key("modes", "metric", "load_object_id"), Columns: []Column{
		experimentID, modes, metric,
		{"load_object_id", Int64, Dict, "", false, "The load object."},
		exclusive, inclusive,
	}}
	DataValues = &Table{Name: "data_values", Row: "one metric's value of one data object, as one instruction accessed it in one way", Key: key("metric", "data_object_id", "location", "method", "detail", "agreement", "embedding_object_id"), Columns: []Column{
		experimentID, metric, dataObject,
		{"location", Int32, Dict, "", true, "The instruction that accessed memory; where it was not found, that of the recorded PC; missing without one: `locations.location`."},
		dataMethod,
		{"detail", String, Dict, "", false, "More about the way or the reason; empty if there is none."},
		agreement, embedding, value, samples,
	}, Joined: ofLocation, Computed: []Computed{locationID}}
	FunctionRollup = &Table{Name: "function_rollup", Summary: true, Row: "one metric's value of one function, or of `<Total>`, as `function_values` has it, with all names: what all experiments say of a function is in one place of a file, and what they say of a metric", Key: key("metric", "modes", "function_id"), Columns: []Column{
		experimentID, metric, metricUnit, modes,
		{"function_id", Int64, Dict, "", false, "The function."},
		functionKey, functionName, objectName, moduleName, functionKind, exclusive, inclusive,
	}}
	// FunctionSums hold for the files of batches of which everything counts: of others, the
	// rows of FunctionRollup that count are read in their place.
	FunctionSums = &Table{Name: "function_sums", Row: "the sum of one metric's values of one function, or of `<Total>`, over the experiments of a batch: sums of these rows are those of `function_rollup`, which has a row for each experiment", Columns: []Column{
		metric, metricUnit, modes, functionKey, functionName, objectName, moduleName, functionKind, exclusive, inclusive,
	}}
)

// These say of a value, in words, what it is of.
var (
	metricUnit   = Column{"unit", Label, Dict, "", false, "The metric's base unit: ns, bytes or count."}
	functionKey  = Column{"function_key", Int64, Dict, "", false, "Hash of the load object's name, the module's name without directories and the linkage name, or else the name for people: the same in every build."}
	functionName = Column{"function", Label, Dict, "", false, "Its name for people."}
	objectName   = Column{"load_object", Label, Dict, "", false, "The name of its load object."}
	moduleName   = Column{"module", Label, Dict, "", false, "The name of its module."}
	functionKind = Column{"kind", Label, Dict, "", false, "As `functions.kind`."}
)
