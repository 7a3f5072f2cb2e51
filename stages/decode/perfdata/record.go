package perfdata

import (
	"fmt"
	"math"
	"math/bits"
	"strings"

	"stackmill/problem"
	"stackmill/stages/decode/bounds"
)

// recordHeader is the size of what every record begins with.
const recordHeader = 8

// The types of records that are used (perf-data 5).
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
	recordDeferred    = 22

	recordTool           = 64 // the first that perf writes itself
	recordHeaderAttr     = 64
	recordTracingData    = 66
	recordBuildID        = 67
	recordFinishedRound  = 68
	recordIDIndex        = 69
	recordAuxtrace       = 71
	recordEventUpdate    = 78
	recordTimeConv       = 79
	recordHeaderFeature  = 80
	recordCompressed     = 81
	recordCompressed2    = 83
	recordFinishedInit   = 82
	recordKnown          = 84
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
	miscExec    = 1 << 13 // of COMM: by exec
	miscBuildID = 1 << 14 // of MMAP2
	miscExact   = 1 << 14 // of SAMPLE: the address is that of the instruction
)

// piece is a part of the recording that holds records: of a file, or what it
// decompresses to.
type piece struct {
	name string
	data []byte
	// inRound says that records of running programs follow the last of the marks
	// that perf sets whenever it has emptied its buffers.
	inRound bool
	marked  bool // there is such a mark
}

// pieceShift is where the number of the piece stands in a record's place.
const pieceShift = 48

// place says where a record is: the number of its piece and its offset there.
type place uint64

// offset is where the record is in its piece.
func (p place) offset() int64 { return int64(p & (1<<pieceShift - 1)) }

func (r *reader) body(at place) (misc uint16, body []byte) {
	b := r.pieces[at>>pieceShift].data[at.offset():]
	c := cursor{b: b, big: r.big}
	c.u32()
	misc = c.u16()
	size := int(c.u16())
	r.touch(size)
	return misc, b[recordHeader:size]
}

// window is how much of the files is in memory at a time, in bytes.
const window = 64 << 20

// touch counts bytes that are read, and now and then gives the files' pages back.
func (r *reader) touch(n int) {
	if r.touched += n; r.touched > window {
		r.touched = 0
		for _, f := range r.files {
			f.Release()
		}
	}
}

// sideband is a record that is no sample.
type sideband struct {
	time uint64 // 0: at the beginning
	typ  uint32
	misc uint16
	at   place
	body []byte
}

// scan reads the records of a piece.
func (r *reader) scan(n, from int) {
	p := &r.pieces[n]
	for at := from; at < len(p.data); {
		rest := p.data[at:]
		if len(rest) < recordHeader {
			r.cut(p, at)
			return
		}
		c := cursor{b: rest, big: r.big}
		typ, misc, size := c.u32(), c.u16(), int(c.u16())
		if size < recordHeader || size > len(rest) {
			next := r.resync(p.data, at)
			if next == len(p.data) && size > len(rest) {
				if r.cut(p, at); typ == recordCompressed { // what there is of the stream can be read
					r.compressed = append(r.compressed, rest[recordHeader:])
				}
				return
			}
			r.problemIn(p.name, problem.Error, int64(at), "bad-record", "a record of type %d has %d bytes: %d bytes are skipped", typ, size, next-at)
			at = next
			continue
		}
		body := rest[recordHeader:size]
		switch {
		case typ == recordSample:
			p.inRound = true
			r.sampleAt(place(n)<<pieceShift|place(at), body)
		case typ < recordTool:
			r.kernelRecord(p, place(n)<<pieceShift|place(at), typ, misc, body)
		default:
			switch typ {
			case recordFinishedRound:
				p.inRound, p.marked = false, true
			case recordFinishedInit:
				r.begun = true
			case recordAuxtrace:
				p.inRound = true
			case recordCompressed, recordCompressed2:
				p.inRound, r.packed = true, true
			}
			if size += r.toolRecord(typ, misc, body); size > len(rest) {
				r.cut(p, at)
			}
		}
		at += size
		r.touch(size)
	}
}

// plausibleRecords is how many records in a row tell where reading can go on.
const plausibleRecords = 4

// resync finds where records go on behind a bad one; the piece's end if they do
// not. Records begin at multiples of 8 bytes from each other.
func (r *reader) resync(data []byte, at int) int {
	for at += 8; at+recordHeader <= len(data); at += 8 {
		p, n := at, 0
		for ; n < plausibleRecords && p < len(data); n++ {
			c := cursor{b: data[p:], big: r.big}
			typ, _, size := c.u32(), c.u16(), int(c.u16())
			if c.short || typ == 0 || typ >= 2*recordTool || size < recordHeader || size%8 != 0 || size > len(data)-p {
				break
			}
			p += size
		}
		if n == plausibleRecords || n > 0 && p == len(data) {
			return at
		}
	}
	return len(data)
}

// cut records that a piece ends inside a record.
func (r *reader) cut(p *piece, at int) {
	r.problemIn(p.name, problem.Error, int64(at), "cut-record", "the file ends inside a record, %d bytes behind its start", len(p.data)-at)
}

// kernelRecord keeps a record that says something about processes, or counts
// what was lost.
func (r *reader) kernelRecord(p *piece, at place, typ uint32, misc uint16, body []byte) {
	c := cursor{b: body, big: r.big}
	switch typ {
	case recordLost:
		c.u64()
		r.lost = bounds.Plus(r.lost, int64(min(c.u64(), math.MaxInt64)))
	case recordLostSamples:
		r.lostSamples = bounds.Plus(r.lostSamples, int64(min(c.u64(), math.MaxInt64)))
	case recordThrottle:
		r.throttled++
	case recordMmap, recordMmap2, recordComm, recordFork, recordExit, recordKsymbol:
		time := r.trailerTime(body)
		p.inRound = p.inRound || time != 0
		r.sidebands = append(r.sidebands, sideband{time, typ, misc, at, body})
	case recordDeferred:
		r.deferredAt(p, at, body)
	default:
		if typ > recordKernelKnown || typ == 0 {
			r.unknownRecords[typ]++
		} else if !r.fits(typ, body) {
			r.oddRecords++
		}
	}
}

// trailerTime reads the time of a record that is no sample from the fields at
// its end (perf-data 6.4); 0 when there is none.
func (r *reader) trailerTime(body []byte) uint64 {
	if len(r.events) == 0 {
		return 0
	}
	a := &r.events[0].attr
	if a.flags&flagSampleIDAll == 0 || a.sampleType&sampleTime == 0 {
		return 0
	}
	behind := 8 * (1 + bits.OnesCount64(a.sampleType&(sampleID|sampleStreamID|sampleCPU|sampleIdentifier)))
	if behind > len(body) {
		return 0
	}
	c := cursor{b: body[len(body)-behind:], big: r.big}
	if t := c.u64(); t != noTime {
		return t
	}
	return 0
}

// trailerSize is the size of the fields at the end of such a record.
func (r *reader) trailerSize() int {
	if len(r.events) == 0 || r.events[0].flags&flagSampleIDAll == 0 {
		return 0
	}
	return 8 * bits.OnesCount64(r.events[0].sampleType&(sampleTID|sampleTime|sampleID|sampleStreamID|sampleCPU|sampleIdentifier))
}

// toolRecord reads a record of perf's own. It returns the number of bytes that
// follow the record without being part of it.
func (r *reader) toolRecord(typ uint32, misc uint16, body []byte) (behind int) {
	c := cursor{b: body, big: r.big}
	switch typ {
	case recordHeaderAttr:
		if a, size, err := readAttr(body, r.big); err != nil {
			r.problem(problem.Error, problem.NoOffset, "bad-attributes", "%v", err)
		} else {
			r.addEvent(a, words(body[size:], r.big))
		}
	case recordHeaderFeature:
		bit := c.u64()
		if !c.short && bit < 256 {
			r.feature(int(bit), c.b)
		}
	case recordEventUpdate:
		kind, id := c.u64(), c.u64()
		if e, ok := r.byID[id]; ok && kind == updateName {
			if name := text(c.b); name != "" {
				r.events[e].name = name
			}
		}
	case recordTimeConv:
		r.cycles = readCycleClock(body, r.big)
	case recordBuildID:
		r.injected = true
		r.buildID(misc, body)
	case recordIDIndex:
		r.idIndex(c.list(idIndexEntry))
	case recordTracingData:
		return (int(c.u32()) + 7) &^ 7
	case recordAuxtrace:
		r.auxBytes = bounds.Plus(r.auxBytes, int64(min(c.u64(), math.MaxInt64)))
		c = cursor{b: body, big: r.big}
		return int(min(c.u64(), 1<<62))
	case recordCompressed:
		r.compressed = append(r.compressed, body)
	case recordCompressed2:
		if n := c.u64(); n <= uint64(len(c.b)) {
			r.compressed = append(r.compressed, c.b[:n])
		} else {
			r.badSamples++
		}
	default:
		if typ > recordKnown {
			r.unknownRecords[typ]++
		} else if !r.fits(typ, body) {
			r.oddRecords++
		}
	}
	return 0
}

// count records a problem that was counted, if there was any.
func (r *reader) count(s problem.Severity, n int64, reason, message string) {
	if n > 0 {
		r.rec.Problems.Add(problem.Problem{Severity: s, File: r.main, Offset: problem.NoOffset, Reason: reason, Message: message, Count: n})
	}
}

// summary records what was counted while reading.
func (r *reader) summary() {
	r.count(problem.Warning, r.lost, "lost-records", "the kernel could not write records because the buffer was full: use perf record -m or a lower frequency")
	r.count(problem.Warning, r.lostSamples, "lost-samples", "the kernel dropped samples")
	r.count(problem.Warning, r.throttled, "throttled", "the kernel paused sampling because it took too much time")
	r.count(problem.Error, r.badSamples, "bad-sample", "samples end before their last field")
	r.count(problem.Warning, r.longSamples, "long-sample", "samples go on behind their last field: if the description of their event is damaged, their fields are misread")
	r.count(problem.Error, r.badRecords, "bad-record", "records of processes and their mappings end before their last field")
	r.count(problem.Error, r.unknownEvents, "unknown-event", "samples belong to an event that the file does not describe")
	r.count(problem.Warning, r.auxBytes, "aux-data", "bytes of hardware trace data are not decoded")
	r.judgeChains()
	for i := range r.leftOut {
		r.leftOut[i].Report(func(s problem.Severity, offset int64, reason, message string, count int64) {
			r.rec.Problems.Add(problem.Problem{Severity: s, File: r.pieces[i].name, Offset: offset, Reason: reason, Message: message, Count: count})
		})
	}
	r.count(problem.Warning, r.oddRecords, "odd-record", "records are longer or shorter than those of their types, and are skipped: if they were samples, these are lost")
	var kinds []string
	var n int64
	for typ, k := range r.unknownRecords {
		kinds, n = append(kinds, fmt.Sprint(typ)), n+k
	}
	if n > 0 {
		r.count(problem.Warning, n, "unknown-record", "records of unknown types are skipped, and samples with them if those were any: "+strings.Join(sorted(kinds), ", "))
	}
}
