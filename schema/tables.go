package schema

var experimentID = Column{"experiment_id", Label, Dict, "", false, "The experiment: 16 hex digits derived from the content of the recording."}

var (
	process  = Column{"process", Int32, Dict, "", false, "The process within the experiment: 1 is the founder, descendants follow in the order in which they were loaded."}
	metric   = Column{"metric", Label, Dict, "", false, "The metric's name; `metrics` has its title and unit."}
	stackNo  = Column{"stack", Int32, DictOrDelta, "", false, "The recorded stack: `recorded_stacks.stack`."}
	nameNo   = Column{"name_no", Int32, Dict, "", false, "Which of its names the thread had: `thread_names.name_no`. If the name is unknown, `thread_names` has no such row."}
	cgroup   = Column{"cgroup", Label, Dict, "", true, "The control group that the thread was in: its path below the root of the hierarchy, or its identifier if the path was not recorded; missing if no control group was recorded."}
	sampleNo = Column{"sample", Int64, Delta, "", false, "The sample's number within the experiment; `samples` has its time, thread and stack."}
)

// functionNo identifies functions in tables that refer to them, because numbers take less space
// than function_id, which is a hash. ofFunction joins the table with both.
var (
	functionNo = Column{"function_no", Int32, PlainOrDelta, "", false, "The function's number within the experiment, from 0."}
	functionID = DerivedColumn{"function_id", Int64, "f.function_id", "The function."}
	locationID = DerivedColumn{"location_id", Int64, "l.location_id", "The instruction: `locations.location_id`."}
)

// ListedIn is the column with a batch's name. It is in tables whose rows the batch's experiments
// share, and in the tables that link experiments to such rows. It is written last, once the batch
// has a name.
const ListedIn = "listed_in"

// listedIn and listing are the columns that identify shared rows, both in their tables and in the
// tables that link experiments to them (Table.Links).
var (
	listedIn = Column{ListedIn, Label, Dict, "", false, "The name of the batch that contains the list (of a function's instructions, or of a file's lines)."}
	listing  = Column{"listing", Int32, Dict, "", false, "The number of that list within the batch, from 0."}
	content  = Column{"content", Int64, Plain, "", true, "Hash of the list's rows; missing if an earlier row of the batch refers to the same list."}
)

const (
	ofFunction = "LEFT JOIN functions f USING (experiment_id, function_no)"
	ofLocation = "LEFT JOIN locations_wide l USING (experiment_id, location)"
)

// rawStackID is a column that identifies a recorded stack in the whole store.
var rawStackID = DerivedColumn{"raw_stack_id", Int64, "xor((('0x' || experiment_id)::UBIGINT >> 1)::BIGINT, stack::BIGINT)", "Identifies the recorded stack in the whole store: computed from `experiment_id` and `stack`."}

// Tables lists all tables, in the order of docs/tables.md.
var Tables = []*Table{
	Experiments, Processes, Metrics, Problems, Recordings,
	LoadObjects, Segments, Modules, Functions, Locations, InlineFrames, Listings, Instructions, SourceFiles, SourceLines,
	RecordedStacks, StackTree, TreeFrames,
	ThreadNames, Samples, ClockSamples, HeapSamples, IOSamples, IOFiles, SyncSamples, SyncVariables, HWCSamples, OMPSamples, RaceSamples, DeadlockSamples, PerfSamples, PprofSamples, WaitSamples, ThreadStates, EventFormats, EventFields, RecordingGaps, Counts, Overview,
	DataObjects, MemoryRegions, DataSamples,
	StackValues, UsageValues, FunctionValues, CallValues, CallNodes, TreeValues, LineValues, SourceValues, PCValues, ModuleValues, ObjectValues, DataValues, FunctionRollup, FunctionSums,
}
