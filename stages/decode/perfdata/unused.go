package perfdata

import (
	"fmt"
	"maps"
	"slices"

	"stackmill/schema/diagnostic"
)

// use says what becomes of one kind of thing that a recording contains.
type use uint8

const (
	used     use = iota // it decides values or names, or is about the recording's own order
	stored              // a column has it
	machine             // it describes the machine, and no value or name depends on it
	reported            // a remark in `problems` has its count
)

// contentKind is a kind of thing that a recording contains (perf-data 2, 5, 6).
type contentKind struct {
	name string
	use  use
	// lacks says what the store lacks of it, if it is reported.
	lacks string
}

// recordKinds are the types of records.
var recordKinds = map[uint32]contentKind{
	recordMmap: {"MMAP", used, ""}, recordLost: {"LOST", used, ""}, recordComm: {"COMM", used, ""}, recordExit: {"EXIT", used, ""},
	recordThrottle: {"THROTTLE", used, ""}, recordUnthrottle: {"UNTHROTTLE", used, ""}, recordFork: {"FORK", used, ""},
	recordRead:   {"READ", reported, "the counters' values when threads ended"},
	recordSample: {"SAMPLE", used, ""}, recordMmap2: {"MMAP2", used, ""},
	recordAux:           {"AUX", reported, "when hardware trace data was written, and whether some was lost"},
	recordITraceStart:   {"ITRACE_START", reported, "when the hardware began to trace instructions"},
	recordLostSamples:   {"LOST_SAMPLES", used, ""},
	recordSwitch:        {"SWITCH", reported, "when threads went off their CPU and came back"},
	recordSwitchCPUWide: {"SWITCH_CPU_WIDE", reported, "when threads went off their CPU and came back"},
	recordNamespaces:    {"NAMESPACES", reported, "the namespaces of processes"},
	recordKsymbol:       {"KSYMBOL", used, ""},
	recordBPFEvent:      {"BPF_EVENT", reported, "when BPF programs were loaded and unloaded; their code has names by KSYMBOL records"},
	recordCGroup:        {"CGROUP", used, ""},
	recordTextPoke:      {"TEXT_POKE", reported, "changes of the kernel's code"},
	recordAuxOutputID:   {"AUX_OUTPUT_HW_ID", reported, "which event a hardware trace belongs to"},
	recordDeferred:      {"CALLCHAIN_DEFERRED", used, ""},

	recordHeaderAttr: {"HEADER_ATTR", used, ""}, recordEventType: {"EVENT_TYPE", used, ""},
	recordTracingData: {"TRACING_DATA", reported, "the formats of the tracepoints' own fields"},
	recordBuildID:     {"BUILD_ID", used, ""}, recordFinishedRound: {"FINISHED_ROUND", used, ""}, recordIDIndex: {"ID_INDEX", used, ""},
	recordAuxtraceInfo:  {"AUXTRACE_INFO", reported, "how the hardware traced"},
	recordAuxtrace:      {"AUXTRACE", used, ""}, // the bytes have a problem of their own
	recordAuxtraceError: {"AUXTRACE_ERROR", reported, "errors in the hardware's trace"},
	recordThreadMap:     {"THREAD_MAP", machine, ""}, recordCPUMap: {"CPU_MAP", machine, ""},
	recordStatConfig: {"STAT_CONFIG", reported, "settings of perf stat"}, recordStat: {"STAT", reported, "counts of perf stat"},
	recordStatRound: {"STAT_ROUND", reported, "intervals of perf stat"}, recordEventUpdate: {"EVENT_UPDATE", used, ""},
	recordTimeConv: {"TIME_CONV", used, ""}, recordHeaderFeature: {"HEADER_FEATURE", used, ""}, recordCompressed: {"COMPRESSED", used, ""},
	recordFinishedInit: {"FINISHED_INIT", used, ""}, recordCompressed2: {"COMPRESSED2", used, ""},
	recordBPFMetadata:     {"BPF_METADATA", reported, "descriptions of BPF programs"},
	recordSchedstatCPU:    {"SCHEDSTAT_CPU", reported, "the scheduler's statistics"},
	recordSchedstatDomain: {"SCHEDSTAT_DOMAIN", reported, "the scheduler's statistics"},

	recordSimpleperf + 1:  {"KERNEL_SYMBOL", reported, "simpleperf's copy of the kernel's symbols: pass it with --kallsyms"},
	recordSimpleperf + 2:  {"DSO", reported, "simpleperf's list of files"},
	recordSimpleperf + 3:  {"SYMBOL", reported, "simpleperf's symbols"},
	recordSimpleperf + 4:  {"SPLIT", reported, "parts of simpleperf's records that are longer than 64 KiB"},
	recordSimpleperf + 5:  {"SPLIT_END", used, ""},
	recordEventIDs:        {"EVENT_ID", used, ""},
	recordSimpleperf + 7:  {"CALLCHAIN", reported, "call chains that simpleperf unwound and wrote apart from their samples"},
	recordSimpleperf + 8:  {"UNWINDING_RESULT", reported, "how simpleperf unwound stacks"},
	recordSimpleperf + 9:  {"SIMPLEPERF_TRACING_DATA", reported, "the formats of the tracepoints' own fields"},
	recordSimpleperf + 10: {"DEBUG", reported, "simpleperf's notes about itself"},
}

// sampleFields are the fields of samples by their bit in sample_type. Those of use reported
// may be used by some events: see reader.unusedFields.
var sampleFields = [...]contentKind{
	{"IP", used, ""}, {"TID", used, ""}, {"TIME", used, ""}, {"ADDR", stored, ""}, {"READ", used, ""}, {"CALLCHAIN", used, ""}, {"ID", used, ""},
	{"CPU", used, ""}, {"PERIOD", used, ""}, {"STREAM_ID", used, ""},
	{"RAW", reported, "the tracepoints' own fields"},
	{"BRANCH_STACK", reported, "the branches that were taken"},
	{"REGS_USER", reported, "user registers"},
	{"STACK_USER", used, ""}, {"WEIGHT", stored, ""}, {"DATA_SRC", stored, ""}, {"IDENTIFIER", used, ""},
	{"TRANSACTION", reported, "causes of aborted transactions"},
	{"REGS_INTR", reported, "registers at the interrupt"},
	{"PHYS_ADDR", stored, ""},
	{"AUX", reported, "hardware trace data"},
	{"CGROUP", stored, ""},
	{"DATA_PAGE_SIZE", reported, "sizes of the pages of data"},
	{"CODE_PAGE_SIZE", reported, "sizes of the pages of code"},
	{"WEIGHT_STRUCT", stored, ""},
}

// readFormats are the bits of read_format.
var readFormats = [...]contentKind{
	{"total_time_enabled", used, ""}, {"total_time_running", used, ""}, {"id", used, ""}, {"group", used, ""}, {"lost", used, ""},
}

// headerFeatures are the features of a file's header by their bit.
var headerFeatures = map[int]contentKind{
	featureTracing: {"TRACING_DATA", reported, "the formats of the tracepoints' own fields"}, featureBuildID: {"BUILD_ID", used, ""},
	featureHostname: {"HOSTNAME", used, ""}, featureOSRelease: {"OSRELEASE", used, ""}, featureVersion: {"VERSION", used, ""}, featureArch: {"ARCH", used, ""},
	featureCPUs: {"NRCPUS", used, ""}, 8: {"CPUDESC", machine, ""}, 9: {"CPUID", machine, ""}, 10: {"TOTAL_MEM", machine, ""},
	featureCmdline: {"CMDLINE", used, ""}, featureEventDesc: {"EVENT_DESC", used, ""}, 13: {"CPU_TOPOLOGY", machine, ""}, 14: {"NUMA_TOPOLOGY", machine, ""},
	15: {"BRANCH_STACK", used, ""}, featurePMUs: {"PMU_MAPPINGS", used, ""},
	featureGroups: {"GROUP_DESC", reported, "which events were counted as a group"},
	18:            {"AUXTRACE", used, ""}, // an index of records
	19:            {"STAT", used, ""},     // the records have a remark
	featureCache:  {"CACHE", used, ""}, featureTimes: {"SAMPLE_TIME", used, ""}, 22: {"MEM_TOPOLOGY", machine, ""}, 23: {"CLOCKID", machine, ""},
	24:              {"DIR_FORMAT", used, ""},
	featurePrograms: {"BPF_PROG_INFO", reported, "the machine code and lines of BPF programs"},
	featureTypes:    {"BPF_BTF", reported, "the types of BPF programs"},
	27:              {"COMPRESSED", used, ""}, featurePMUCaps: {"CPU_PMU_CAPS", used, ""}, featureClockData: {"CLOCK_DATA", used, ""},
	30: {"HYBRID_TOPOLOGY", machine, ""}, 31: {"PMU_CAPS", machine, ""}, 32: {"CPU_DOMAIN_INFO", machine, ""},

	featureSimpleperf:     {"FILE", reported, "the symbols that simpleperf found: pass the files with --symfs"},
	featureMeta:           {"META_INFO", used, ""},
	featureSimpleperf + 2: {"DEBUG_UNWIND", reported, "how simpleperf unwound stacks"},
	featureSimpleperf + 3: {"DEBUG_UNWIND_FILE", reported, "how simpleperf unwound stacks"},
	featureSimpleperf + 4: {"FILE2", reported, "the symbols that simpleperf found: pass the files with --symfs"},
	featureSimpleperf + 5: {"ETM_BRANCH_LIST", reported, "branches that Arm's ETM traced"},
	featureInitMap:        {"INIT_MAP", used, ""},
}

// noteRecord counts a record that is not used.
func (r *reader) noteRecord(typ uint32) { r.seenRecords[typ]++ }

// noteFeature counts what a feature of the header has: of those that perf always writes,
// the entries.
func (r *reader) noteFeature(bit int, c cursor) {
	n := int64(1)
	switch bit {
	case featureGroups, featurePrograms, featureTypes:
		n = int64(c.U32())
	}
	r.seenFeatures[bit] += n
}

// noteFields counts what samples have and no table holds. It is called once all samples were
// found, and before those of groups are counted for each event.
func (r *reader) noteFields() {
	for _, e := range r.events {
		for bit := range sampleFields {
			if e.sampleType>>bit&1 != 0 && !r.usesField(e, 1<<bit) {
				r.seenFields[bit] += e.samples
			}
		}
	}
}

// usesField reports whether an event's samples need a remark about a field.
func (r *reader) usesField(e *event, field uint64) bool {
	switch field {
	case sampleRegsUser:
		return e.sampleType&sampleStackUser != 0 || r.arm64() && e.regsUser>>arm64LR&1 != 0
	case sampleBranchStack:
		return e.branchType&branchCallStack != 0
	}
	return false
}

// judgeUnused reports, once for each kind, what the recording contains and no table holds.
func (r *reader) judgeUnused() {
	for _, typ := range slices.Sorted(maps.Keys(r.seenRecords)) {
		if k := recordKinds[typ]; k.use == reported {
			r.count(diagnostic.Info, r.seenRecords[typ], "unused-records", fmt.Sprintf("%s records are not used: the store lacks %s", k.name, k.lacks))
		}
	}
	for bit, n := range r.seenFields {
		k := sampleFields[bit]
		switch {
		case k.use != reported, n == 0:
		case 1<<bit == sampleBranchStack:
			r.count(diagnostic.Info, r.branches, "unused-fields", fmt.Sprintf("branch records of %d of the samples (BRANCH_STACK) are not stored%s", n, r.branchesUsed()))
		default:
			r.count(diagnostic.Info, n, "unused-fields", fmt.Sprintf("samples have a field %s that is not used: the store lacks %s", k.name, k.lacks))
		}
	}
	r.count(diagnostic.Info, r.latencies, "unused-fields", "samples have further latencies (WEIGHT_STRUCT) that are not used: the store lacks all but the first")
	for bit, n := range r.seenFeatures {
		switch k, known := headerFeatures[bit]; {
		case !known:
			r.count(diagnostic.Info, n, "unused-features", fmt.Sprintf("the header has a feature %d, which is unknown", bit))
		case k.use == reported:
			r.count(diagnostic.Info, n, "unused-features", fmt.Sprintf("the header's feature %s is not used: the store lacks %s", k.name, k.lacks))
		}
	}
	if lost := r.readLost(); lost > r.lostSamples {
		r.count(diagnostic.Warning, lost-r.lostSamples, "lost-samples", "the kernel dropped samples, as their counters say (read_format lost)")
	}
}

// branchesUsed says what branches are used for nevertheless.
func (r *reader) branchesUsed() string {
	if slices.ContainsFunc(r.events, func(e *event) bool { return e.usesBranches() }) {
		return "; they only show the callers of leaves without a frame"
	}
	return ""
}

// readLost is how many samples the counters' last readings say were lost.
func (r *reader) readLost() (n int64) {
	for _, lost := range r.lostBy {
		n += int64(min(lost, 1<<62/uint64(len(r.lostBy))))
	}
	return n
}
