package perfdata

import "stackmill/stages/decode/mapped"

// recordHeader is the size of what every record begins with.
const recordHeader = 8

// The types of records that the code names (perf-data 5): recordKinds has all.
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

	recordTool          = 64 // the first that perf writes itself
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

	// Those of Android's simpleperf, whose misc field has the upper half of the size (perf-data 5.4).
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
	miscExec    = 1 << 13 // of COMM: by exec; of FORK: perf made it up when it began to record
	miscBuildID = 1 << 14 // of MMAP2
	miscExact   = 1 << 14 // of SAMPLE: the address is that of the instruction
)

// piece is a part of the recording that holds records: of a file, or what it
// decompresses to.
type piece struct {
	name string
	file *mapped.File
	data []byte // of the file
	// inRound says that records of running programs follow the last FINISHED_ROUND,
	// which perf writes whenever it has emptied its buffers.
	inRound bool
	marked  bool // there is a FINISHED_ROUND
}

// pieceShift is the position of the piece's number in a place.
const pieceShift = 48

// place says where a record is: the number of its piece and its offset there.
type place uint64

// offset is where the record is in its piece.
func (p place) offset() int64 { return int64(p & (1<<pieceShift - 1)) }
