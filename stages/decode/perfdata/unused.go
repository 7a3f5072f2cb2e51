package perfdata

import (
	"fmt"
	"maps"
	"slices"

	"stackmill/schema/diagnostic"
)

// contentKind is a kind of content of a recording (perf-data 2, 5, 6).
type contentKind struct {
	name string
	// lacks says what the store lacks because the content is not used. It is empty if nothing is
	// lacking: a column has the content, values or names are computed from it, or none of them depend
	// on it, such as on the machine's topology.
	lacks string
}

// recordKinds describes the types of records.
var recordKinds = map[uint32]contentKind{
	recordMmap: {"MMAP", ""}, recordLost: {"LOST", ""}, recordComm: {"COMM", ""}, recordExit: {"EXIT", ""},
	recordThrottle: {"THROTTLE", ""}, recordUnthrottle: {"UNTHROTTLE", ""}, recordFork: {"FORK", ""},
	recordRead:   {"READ", "the counters' values when threads ended"},
	recordSample: {"SAMPLE", ""}, recordMmap2: {"MMAP2", ""},
	recordAux:           {"AUX", "when hardware trace data was written, and whether some was lost"},
	recordITraceStart:   {"ITRACE_START", "when the hardware began to trace instructions"},
	recordLostSamples:   {"LOST_SAMPLES", ""},
	recordSwitch:        {"SWITCH", ""},
	recordSwitchCPUWide: {"SWITCH_CPU_WIDE", ""},
	recordNamespaces:    {"NAMESPACES", "the namespaces of processes"},
	recordKsymbol:       {"KSYMBOL", ""},
	recordBPFEvent:      {"BPF_EVENT", "when BPF programs were loaded and unloaded; their code has names by KSYMBOL records"},
	recordCGroup:        {"CGROUP", ""},
	recordTextPoke:      {"TEXT_POKE", "changes of the kernel's code"},
	recordAuxOutputID:   {"AUX_OUTPUT_HW_ID", "which event a hardware trace belongs to"},
	recordDeferred:      {"CALLCHAIN_DEFERRED", ""},

	recordHeaderAttr: {"HEADER_ATTR", ""}, recordEventType: {"EVENT_TYPE", ""},
	recordTracingData: {"TRACING_DATA", ""},
	recordBuildID:     {"BUILD_ID", ""}, recordFinishedRound: {"FINISHED_ROUND", ""}, recordIDIndex: {"ID_INDEX", ""},
	recordAuxtraceInfo:  {"AUXTRACE_INFO", "how the hardware traced"},
	recordAuxtrace:      {"AUXTRACE", ""}, // summary reports the bytes
	recordAuxtraceError: {"AUXTRACE_ERROR", "errors in the hardware's trace"},
	recordThreadMap:     {"THREAD_MAP", ""}, recordCPUMap: {"CPU_MAP", ""},
	recordStatConfig: {"STAT_CONFIG", ""}, // only says how perf stat prints its counts
	recordStat:       {"STAT", ""}, recordStatRound: {"STAT_ROUND", ""}, recordEventUpdate: {"EVENT_UPDATE", ""},
	recordTimeConv: {"TIME_CONV", ""}, recordHeaderFeature: {"HEADER_FEATURE", ""}, recordCompressed: {"COMPRESSED", ""},
	recordFinishedInit: {"FINISHED_INIT", ""}, recordCompressed2: {"COMPRESSED2", ""},
	recordBPFMetadata:     {"BPF_METADATA", "descriptions of BPF programs"},
	recordSchedstatCPU:    {"SCHEDSTAT_CPU", "the scheduler's statistics"},
	recordSchedstatDomain: {"SCHEDSTAT_DOMAIN", "the scheduler's statistics"},

	recordSimpleperf + 1:  {"KERNEL_SYMBOL", "simpleperf's copy of the kernel's symbols: pass it with --kallsyms"},
	recordSimpleperf + 2:  {"DSO", "simpleperf's list of files"},
	recordSimpleperf + 3:  {"SYMBOL", "simpleperf's symbols"},
	recordSimpleperf + 4:  {"SPLIT", "parts of simpleperf's records that are longer than 64 KiB"},
	recordSimpleperf + 5:  {"SPLIT_END", ""},
	recordEventIDs:        {"EVENT_ID", ""},
	recordSimpleperf + 7:  {"CALLCHAIN", "call chains that simpleperf unwound and wrote apart from their samples"},
	recordSimpleperf + 8:  {"UNWINDING_RESULT", "how simpleperf unwound stacks"},
	recordSimpleperf + 9:  {"SIMPLEPERF_TRACING_DATA", "the formats of the tracepoints' own fields"},
	recordSimpleperf + 10: {"DEBUG", "simpleperf's notes about itself"},
}

// sampleFields describes the fields of samples by their sample_type bit. Fields with lacks are
// reported unless the event's samples use them (usesField).
var sampleFields = [...]contentKind{
	{"IP", ""}, {"TID", ""}, {"TIME", ""}, {"ADDR", ""}, {"READ", ""}, {"CALLCHAIN", ""}, {"ID", ""},
	{"CPU", ""}, {"PERIOD", ""}, {"STREAM_ID", ""},
	{"RAW", "the events' own data, which the recording does not describe"},
	{"BRANCH_STACK", "the branches that were taken"},
	{"REGS_USER", "user registers"},
	{"STACK_USER", ""}, {"WEIGHT", ""}, {"DATA_SRC", ""}, {"IDENTIFIER", ""},
	{"TRANSACTION", "causes of aborted transactions"},
	{"REGS_INTR", "registers at the interrupt"},
	{"PHYS_ADDR", ""},
	{"AUX", "hardware trace data"},
	{"CGROUP", ""},
	{"DATA_PAGE_SIZE", "sizes of the pages of data"},
	{"CODE_PAGE_SIZE", "sizes of the pages of code"},
	{"WEIGHT_STRUCT", ""},
}

// headerFeatures describes the features of a file's header by their bit.
var headerFeatures = map[int]contentKind{
	featureTracing: {"TRACING_DATA", ""}, featureBuildID: {"BUILD_ID", ""},
	featureHostname: {"HOSTNAME", ""}, featureOSRelease: {"OSRELEASE", ""}, featureVersion: {"VERSION", ""}, featureArch: {"ARCH", ""},
	featureCPUs: {"NRCPUS", ""}, 8: {"CPUDESC", ""}, 9: {"CPUID", ""}, 10: {"TOTAL_MEM", ""},
	featureCmdline: {"CMDLINE", ""}, featureEventDesc: {"EVENT_DESC", ""}, 13: {"CPU_TOPOLOGY", ""}, 14: {"NUMA_TOPOLOGY", ""},
	15: {"BRANCH_STACK", ""}, featurePMUs: {"PMU_MAPPINGS", ""},
	featureGroups: {"GROUP_DESC", "which events were counted as a group"},
	18:            {"AUXTRACE", ""}, // an index of records
	19:            {"STAT", ""},     // a flag
	featureCache:  {"CACHE", ""}, featureTimes: {"SAMPLE_TIME", ""}, 22: {"MEM_TOPOLOGY", ""}, 23: {"CLOCKID", ""},
	24:              {"DIR_FORMAT", ""},
	featurePrograms: {"BPF_PROG_INFO", "the machine code and lines of BPF programs"},
	featureTypes:    {"BPF_BTF", "the types of BPF programs"},
	27:              {"COMPRESSED", ""}, featurePMUCaps: {"CPU_PMU_CAPS", ""}, featureClockData: {"CLOCK_DATA", ""},
	30: {"HYBRID_TOPOLOGY", ""}, 31: {"PMU_CAPS", ""}, 32: {"CPU_DOMAIN_INFO", ""},

	featureSimpleperf:     {"FILE", "the symbols that simpleperf found: pass the files with --symfs"},
	featureMeta:           {"META_INFO", ""},
	featureSimpleperf + 2: {"DEBUG_UNWIND", "how simpleperf unwound stacks"},
	featureSimpleperf + 3: {"DEBUG_UNWIND_FILE", "how simpleperf unwound stacks"},
	featureSimpleperf + 4: {"FILE2", "the symbols that simpleperf found: pass the files with --symfs"},
	featureSimpleperf + 5: {"ETM_BRANCH_LIST", "branches that Arm's ETM traced"},
	featureInitMap:        {"INIT_MAP", ""},
}

// noteFeature counts a feature: its entries if it is a list, otherwise 1.
func (r *reader) noteFeature(bit int, c cursor) {
	n := int64(1)
	switch bit {
	case featureGroups, featurePrograms, featureTypes:
		n = int64(c.U32())
	}
	r.unused.seenFeatures[bit] += n
}

// noteFields counts the samples with fields that no table stores. It runs after all samples were
// found, and before the samples of event groups are counted per event.
func (r *reader) noteFields() {
	for _, e := range r.events {
		for bit := range sampleFields {
			if e.sampleType>>bit&1 != 0 && !r.usesField(e, 1<<bit) {
				r.unused.seenFields[bit] += e.samples
			}
		}
	}
}

// usesField reports whether a field that would be reported as unused is used for an event's
// samples.
func (p *recordParser) usesField(e *event, field uint64) bool {
	switch field {
	case sampleRegsUser:
		return e.sampleType&sampleStackUser != 0 || p.arm64() && e.regsUser>>arm64LR&1 != 0
	case sampleBranchStack:
		return e.branchType&branchCallStack != 0
	case sampleRaw:
		return e.typ == typeTracepoint || e.isOffCPU() // describeFields reports tracepoints without a description
	}
	return false
}

// judgeUnused reports, once per kind, the content that no table stores.
func (r *reader) judgeUnused() {
	for _, typ := range slices.Sorted(maps.Keys(r.unused.seenRecords)) {
		if k := recordKinds[typ]; k.lacks != "" {
			r.count(diagnostic.Info, r.unused.seenRecords[typ], "unused-records", fmt.Sprintf("%s records are not used: the store lacks %s", k.name, k.lacks))
		}
	}
	for bit, n := range r.unused.seenFields {
		k := sampleFields[bit]
		switch {
		case k.lacks == "", n == 0:
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
		case k.lacks != "":
			r.count(diagnostic.Info, n, "unused-features", fmt.Sprintf("the header's feature %s is not used: the store lacks %s", k.name, k.lacks))
		}
	}
	if lost := r.readLost(); lost > r.stats.lostSamples {
		r.count(diagnostic.Warning, lost-r.stats.lostSamples, "lost-samples", "the kernel dropped samples, according to the counters' values (read_format lost)")
	}
}

// branchesUsed returns the end of a message about branches that are not stored: what they are used
// for.
func (r *reader) branchesUsed() string {
	if slices.ContainsFunc(r.events, func(e *event) bool { return e.usesBranches() }) {
		return "; they are only used to find the callers of leaves without a frame"
	}
	return ""
}

// readLost returns the number of lost samples according to the last readings of all counters.
func (r *reader) readLost() (n int64) {
	for _, lost := range r.unused.lostBy {
		n += int64(min(lost, 1<<62/uint64(len(r.unused.lostBy))))
	}
	return n
}

// Records whose content is not used or hardly used (perf-data 5.1, 5.2).
const (
	recordUnthrottle  = 6
	recordRead        = 8
	recordAux         = 11
	recordITraceStart = 12
	recordNamespaces  = 16
	recordBPFEvent    = 18
	recordTextPoke    = 20
	recordAuxOutputID = 21
	recordThreadMap   = 73
	recordCPUMap      = 74
	recordStatConfig  = 75
	recordStat        = 76
	recordStatRound   = 77
)

// fixedSizes maps record types to the fixed size of their bodies, in bytes. It excludes the
// trailer, which some records lack.
var fixedSizes = map[uint32]int{
	recordUnthrottle: 24, recordAux: 24, recordITraceStart: 8, recordSwitch: 0, recordSwitchCPUWide: 8, recordAuxOutputID: 8,
}

// fits reports whether an unused record has the size that its type requires. A sample with a
// damaged type usually does not.
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
	}
	return true
}
