package perfdata

import (
	"fmt"
	"maps"
	"slices"

	"stackmill/schema/diagnostic"
)

// usage says how the reader uses a kind of content.
type usage uint8

const (
	used     usage = iota // it decides values or names, or is about the recording's own order
	stored                // a column has it
	machine               // it describes the machine: no value or name depends on it
	reported              // a row of `problems` counts it
)

// contentKind is a kind of content of a recording (perf-data 2, 5, 6).
type contentKind struct {
	name string
	use  usage
	// lacks says what the store lacks, for reported content.
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

// sampleFields are the sample fields by their sample_type bit. Some events may use reported ones:
// see usesField.
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
	19:            {"STAT", used, ""},     // the records are reported
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

// noteFeature counts the entries of a feature, or the feature itself.
func (r *reader) noteFeature(bit int, c cursor) {
	n := int64(1)
	switch bit {
	case featureGroups, featurePrograms, featureTypes:
		n = int64(c.U32())
	}
	r.unused.seenFeatures[bit] += n
}

// noteFields counts samples with fields that no table stores. It runs when all samples are found,
// and before group samples are counted per event.
func (r *reader) noteFields() {
	for _, e := range r.events {
		for bit := range sampleFields {
			if e.sampleType>>bit&1 != 0 && !r.usesField(e, 1<<bit) {
				r.unused.seenFields[bit] += e.samples
			}
		}
	}
}

// usesField reports whether an event's samples use a reported field.
func (p *recordParser) usesField(e *event, field uint64) bool {
	switch field {
	case sampleRegsUser:
		return e.sampleType&sampleStackUser != 0 || p.arm64() && e.regsUser>>arm64LR&1 != 0
	case sampleBranchStack:
		return e.branchType&branchCallStack != 0
	}
	return false
}

// judgeUnused reports, once per kind, the content that no table stores.
func (r *reader) judgeUnused() {
	for _, typ := range slices.Sorted(maps.Keys(r.unused.seenRecords)) {
		if k := recordKinds[typ]; k.use == reported {
			r.count(diagnostic.Info, r.unused.seenRecords[typ], "unused-records", fmt.Sprintf("%s records are not used: the store lacks %s", k.name, k.lacks))
		}
	}
	for bit, n := range r.unused.seenFields {
		k := sampleFields[bit]
		switch {
		case k.use != reported, n == 0:
		case 1<<bit == sampleBranchStack:
			r.count(diagnostic.Info, r.unused.branches, "unused-fields", fmt.Sprintf("branch records of %d of the samples (BRANCH_STACK) are not stored%s", n, r.branchesUsed()))
		default:
			r.count(diagnostic.Info, n, "unused-fields", fmt.Sprintf("samples have a field %s that is not used: the store lacks %s", k.name, k.lacks))
		}
	}
	r.count(diagnostic.Info, r.unused.latencies, "unused-fields", "samples have further latencies (WEIGHT_STRUCT) that are not used: the store lacks all but the first")
	for bit, n := range r.unused.seenFeatures {
		switch k, known := headerFeatures[bit]; {
		case !known:
			r.count(diagnostic.Info, n, "unused-features", fmt.Sprintf("the header has a feature %d, which is unknown", bit))
		case k.use == reported:
			r.count(diagnostic.Info, n, "unused-features", fmt.Sprintf("the header's feature %s is not used: the store lacks %s", k.name, k.lacks))
		}
	}
	if lost := r.readLost(); lost > r.stats.lostSamples {
		r.count(diagnostic.Warning, lost-r.stats.lostSamples, "lost-samples", "the kernel dropped samples, as their counters say (read_format lost)")
	}
}

// branchesUsed says for what branches are used nevertheless.
func (r *reader) branchesUsed() string {
	if slices.ContainsFunc(r.events, func(e *event) bool { return e.usesBranches() }) {
		return "; they only show the callers of leaves without a frame"
	}
	return ""
}

// readLost returns how many samples were lost by the counters' last readings.
func (r *reader) readLost() (n int64) {
	for _, lost := range r.unused.lostBy {
		n += int64(min(lost, 1<<62/uint64(len(r.unused.lostBy))))
	}
	return n
}

// Records whose content is not used (perf-data 5.1, 5.2).
const (
	recordUnthrottle    = 6
	recordRead          = 8
	recordAux           = 11
	recordITraceStart   = 12
	recordSwitch        = 14
	recordSwitchCPUWide = 15
	recordNamespaces    = 16
	recordBPFEvent      = 18
	recordTextPoke      = 20
	recordAuxOutputID   = 21
	recordThreadMap     = 73
	recordCPUMap        = 74
	recordStatConfig    = 75
	recordStat          = 76
	recordStatRound     = 77
)

// fixedSizes are the sizes of bodies that a type determines, in bytes, without the trailer, which
// some records lack.
var fixedSizes = map[uint32]int{
	recordUnthrottle: 24, recordAux: 24, recordITraceStart: 8, recordSwitch: 0, recordSwitchCPUWide: 8, recordAuxOutputID: 8,
}

// fits reports whether an unused record has the size of its type. A sample with a damaged type
// does not.
func (p *recordParser) fits(typ uint32, body []byte) bool {
	if len(p.events) == 0 {
		return true
	}
	trailer := p.trailerSize()
	if size, ok := fixedSizes[typ]; ok {
		return len(body) == size+trailer || len(body) == size
	}
	c := cursorOf(body, p.big)
	switch typ {
	case recordRead:
		c.Bytes(8) // pid, tid
		c.skipRead(p.events[0].readFormat)
		return !c.Short && len(c.Rest) == trailer
	case recordThreadMap:
		n := c.U64()
		return !c.Short && n <= uint64(len(body)) && uint64(len(c.Rest)) == 24*n
	}
	return true
}
