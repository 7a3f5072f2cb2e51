package perfdata

import "stackmill/stages/decode/mmap"

// recordHeader is the size of a record's header.
const recordHeader = 8

// The types of records that the code names (perf-data 5); recordKinds has all.
const (
	recordMmap        = 1
	recordLost        = 2
	recordComm        = 3
	recordExit        = 4
	recordThrottle    = 5
	recordFork        = 7
	recordSample      = 9
	recordMmap2       = 10
	recordLostSamples = 13
	recordKsymbol     = 17
	recordCGroup      = 19
	recordDeferred    = 22

	recordTool          = 64 // the first type of perf's own records
	recordHeaderAttr    = 64
	recordEventType     = 65
	recordTracingData   = 66
	recordBuildID       = 67
	recordFinishedRound = 68
	recordIDIndex       = 69
	recordAuxtraceInfo  = 70
	recordAuxtrace      = 71
	recordAuxtraceError = 72
	recordEventUpdate   = 78
	recordTimeConv      = 79
	recordHeaderFeature = 80
	recordCompressed    = 81
	recordCompressed2   = 83
	recordFinishedInit  = 82
	recordBPFMetadata   = 84

	recordSchedstatCPU    = 85
	recordSchedstatDomain = 86
	recordToolKnown       = 86

	// Records of Android's simpleperf, whose misc field has the upper half of the size
	// (perf-data 5.4).
	recordSimpleperf    = 32768
	recordEventIDs      = recordSimpleperf + 6
	recordSimpleperfEnd = recordSimpleperf + 64

	recordKernelKnown    = 22
	updateName           = 2
	compressed2DataStart = 8
)

// The bits of a record's misc field.
const (
	miscMode    = 7
	miscUnknown = 0
	miscKernel  = 1
	miscUser    = 2
	miscData    = 1 << 13 // of MMAP: not executable
	miscExec    = 1 << 13 // of COMM: by exec; of FORK: synthesized when the recording began
	miscBuildID = 1 << 14 // of MMAP2
	miscExact   = 1 << 14 // of SAMPLE: the address is the exact instruction
)

// recordRun is a sequence of records: in a file, or decompressed.
type recordRun struct {
	name string
	file *mmap.File
	data []byte // of the file
	// inRound reports records of running programs after the last FINISHED_ROUND, which perf
	// writes whenever it has emptied its buffers.
	inRound      bool
	hasRoundMark bool // there is a FINISHED_ROUND
}

// segmentShift is the position of the segment's number in a recordOffset.
const segmentShift = 48

// recordOffset is the location of a record: the number of its segment and its offset there.
type recordOffset uint64

// offset returns the offset in the segment.
func (p recordOffset) offset() int64 { return int64(p & (1<<segmentShift - 1)) }
