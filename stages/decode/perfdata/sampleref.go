package perfdata

import (
	"fmt"
	"iter"
	"math"
	"math/bits"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"stackmill/internal/spill"
	"stackmill/schema"
)

// sampleRef is the time and location of a sample.
type sampleRef struct {
	time uint64
	at   recordOffset
}

// before orders samples by time, then by location. No two are equal.
func (m sampleRef) before(o sampleRef) bool {
	return m.time < o.time || m.time == o.time && m.at < o.at
}

// sampleRefs lists all samples, in chunks. A single list would be copied whenever it grows, and
// parts of it could not be freed or spilled. After an error, some samples are missing.
type sampleRefs struct {
	space  *spill.Space
	chunks []refChunk // all chunks but the last are full
	runs   []int      // after sort: the first chunk of each sorted run
	n      int
	err    error

	timeSummary          // summary of the whole list, set by sort
	words       []uint64 // buffer for writing to and reading from the space
}

// refChunk is a part of the list, in memory or in the temporary space.
type refChunk struct {
	list []sampleRef // nil if it is in the space
	at   int64       // offset of the chunk in the space
	n    int
	timeSummary
}

// timeSummary summarizes a list's times. Samples without a time have 0.
type timeSummary struct {
	first, last      uint64 // first: time of the first sample, even if 0; last: the last time that is not 0
	earliest, latest uint64 // minimum and maximum of the times that are not 0; noTime and 0 if there are none
	untimed          bool   // some samples have the time 0
	disordered       bool   // some times are earlier than a time before them
}

func (s *timeSummary) add(time uint64, isFirst bool) {
	if isFirst {
		*s = timeSummary{first: time, earliest: noTime}
	}
	s.disordered = s.disordered || time < s.latest
	if time == 0 {
		s.untimed = true
		return
	}
	s.last, s.earliest, s.latest = time, min(s.earliest, time), max(s.latest, time)
}

// begin returns the earliest time; 0 if some sample has no time.
func (s *timeSummary) begin() uint64 {
	if s.untimed {
		return 0
	}
	return s.earliest
}

// isIn reports whether all recorded times are within limits.
func (s *timeSummary) isIn(t *timeLimits) bool {
	return s.latest == 0 || t.holds(s.earliest) && t.holds(s.latest)
}

const (
	// refsPerChunk is the number of refs in a chunk, refsPerRead in a read from the space.
	refsPerChunk = 1 << 14
	refsPerRead  = 1 << 12
	// refWords is the size of a sampleRef in the space, in words.
	refWords = 2
)

// inMemory returns how many refs may stay in memory.
func (l *sampleRefs) inMemory() int {
	const share = 4 // the other memory is for rows
	return int(min(l.space.Memory/share/(8*refWords), math.MaxInt32))
}

func (l *sampleRefs) add(m sampleRef) {
	if l.n%refsPerChunk == 0 {
		var list []sampleRef
		if last := len(l.chunks) - 1; last >= 0 && l.n > l.inMemory() {
			list = l.spill(&l.chunks[last])
		} else {
			list = make([]sampleRef, 0, refsPerChunk)
		}
		l.chunks = append(l.chunks, refChunk{list: list})
	}
	l.n++
	p := &l.chunks[len(l.chunks)-1]
	p.list = append(p.list, m)
	p.timeSummary.add(m.time, p.n == 0)
	p.n++
}

// spill moves a chunk to the space, and returns its memory.
func (l *sampleRefs) spill(p *refChunk) (room []sampleRef) {
	at, err := l.space.Append(l.encode(p.list))
	l.failed(err)
	room = p.list[:0]
	p.list, p.at = nil, at
	return room
}

func (l *sampleRefs) failed(err error) {
	if l.err == nil {
		l.err = err
	}
}

// encode returns refs in the format of the space. The result is valid until the next call.
func (l *sampleRefs) encode(list []sampleRef) []byte {
	l.words = l.words[:0]
	for _, m := range list {
		l.words = append(l.words, m.time, uint64(m.at))
	}
	return arrow.GetBytes(l.words)
}

// part returns the refs of a chunk from an index on; none at the end of the chunk. If the chunk is
// in the space, part reads only the next refsPerRead refs, into the buffer.
func (l *sampleRefs) part(p *refChunk, from int, buffer *[]sampleRef) []sampleRef {
	if p.list != nil || l.err != nil || from == p.n {
		return p.list[min(from, len(p.list)):]
	}
	n := min(p.n-from, refsPerRead)
	l.words = slices.Grow(l.words[:0], refWords*n)[:refWords*n]
	l.failed(l.space.ReadAt(arrow.GetBytes(l.words), p.at+int64(8*refWords*from)))
	list := slices.Grow((*buffer)[:0], n)
	for i := range n {
		list = append(list, sampleRef{l.words[refWords*i], recordOffset(l.words[refWords*i+1])})
	}
	*buffer = list
	return list
}

// all iterates over the list in its current order, some refs at a time.
func (l *sampleRefs) all() iter.Seq[[]sampleRef] { return l.between(0, len(l.chunks)) }

// between iterates over the chunks from..to (exclusive).
func (l *sampleRefs) between(from, to int) iter.Seq[[]sampleRef] {
	return func(yield func([]sampleRef) bool) {
		c := refCursor{sampleRefs: l, chunk: from, end: to}
		for c.advance() && yield(c.part) {
		}
	}
}

// refCursor iterates over the refs in the chunks up to end (exclusive).
type refCursor struct {
	*sampleRefs
	chunk, end int
	from       int // index in the chunk of part's first ref
	part       []sampleRef
	buffer     []sampleRef
	at         int // index in part of the next ref
	frees      bool
}

// next returns the next ref; false at the end.
func (c *refCursor) next() (sampleRef, bool) {
	if c.at == len(c.part) && !c.advance() {
		return sampleRef{}, false
	}
	c.at++
	return c.part[c.at-1], true
}

// advance moves to the next part that is not empty; false at the end.
func (c *refCursor) advance() bool {
	for ; c.chunk < c.end; c.chunk, c.from = c.chunk+1, 0 {
		p := &c.chunks[c.chunk]
		c.from += len(c.part)
		if c.part, c.at = c.sampleRefs.part(p, c.from, &c.buffer), 0; len(c.part) > 0 {
			return true
		}
		if c.frees {
			p.list = nil
		}
	}
	c.part, c.at = nil, 0
	return false
}

// sampleAt notes the offset of a sample.
func (r *reader) sampleAt(at recordOffset, body []byte) {
	e := r.eventOf(body)
	if e < 0 {
		r.stats.unknownEvents++
		return
	}
	t, ok := r.timeOf(&r.events[e].attr, body)
	if !ok {
		r.stats.badSamples++
		return
	}
	if t >= offCPUSums && r.events[e].isOffCPU() {
		r.found.sumRefs.add(sampleRef{t, at})
		r.events[e].samples++
		return
	}
	r.found.sampleRefs.add(sampleRef{t, at})
	r.sched.passedTime(t, r.cpuOf(&r.events[e].attr, body))
	if r.events[e].typ == typeTracepoint {
		r.noteOwner(&r.events[e].attr, body)
	}
	r.events[e].samples++
}

// timeOf returns a sample's time. The time precedes all fields of varying size.
func (p *recordParser) timeOf(a *attr, body []byte) (uint64, bool) {
	t := a.sampleType
	if t&sampleTime == 0 {
		return 0, true
	}
	at := 8 * bits.OnesCount64(t&(sampleIdentifier|sampleIP|sampleTID))
	if at+8 > len(body) {
		return 0, false
	}
	c := cursorOf(body[at:], p.big)
	return c.U64(), true
}

// cpuOf returns the CPU of a sample, -1 if it is not recorded. It precedes all fields of varying
// size.
func (p *recordParser) cpuOf(a *attr, body []byte) int32 {
	t := a.sampleType
	at := 8 * bits.OnesCount64(t&(sampleIdentifier|sampleIP|sampleTID|sampleTime|sampleAddr|sampleID|sampleStreamID))
	if t&sampleCPU == 0 || at+8 > len(body) {
		return -1
	}
	c := cursorOf(body[at:], p.big)
	return c.s32()
}

// origin identifies the recording by content that perf writes first and never changes: the event
// ids, which the kernel does not reuse until it restarts, and the time of the first sample in the
// file. Without ids or a time, the result is empty.
func (r *reader) origin() string {
	if len(r.meta.eventIDs) == 0 {
		return ""
	}
	id := schema.NewID("perf")
	for _, n := range r.meta.eventIDs {
		id = id.Number(n)
	}
	for part := range r.found.sampleRefs.all() {
		for i := range part {
			if t := part[i].time; isTime(t) {
				return fmt.Sprintf("%016x", id.Number(t).Sum())
			}
		}
	}
	return ""
}

// owner is the process of a thread, and the thread's id on the whole machine, by the thread's first
// tracepoint sample.
type owner struct {
	pid    int32
	global int32 // 0: unknown
}

// noteOwner notes the process of a thread when it sees the thread's first tracepoint sample.
func (r *reader) noteOwner(a *attr, body []byte) {
	if a.sampleType&sampleTID == 0 {
		return
	}
	at := 8 * bits.OnesCount64(a.sampleType&(sampleIdentifier|sampleIP))
	if at+8 > len(body) {
		return
	}
	c := cursorOf(body[at:], r.big)
	switch pid, tid := c.s32(), c.s32(); {
	case pid > 0 && tid > 0:
		if _, known := r.found.owners[tid]; !known {
			o := owner{pid, r.commonPID(body)}
			r.found.owners[tid] = o
			r.sched.foreign = r.sched.foreign || o.global > 0 && o.global != tid
		}
	case pid == 0 && tid == 0 && !r.sched.foreign && r.sched.idles < maxIdles:
		r.sched.idles++
		r.sched.foreign = r.commonPID(body) > 0
	}
}

// maxIdles is the maximum number of samples with thread id 0 whose common_pid is read. If it is not
// 0, the sample is not of the idle thread, but of a thread outside of the process namespace in
// which perf ran (perf-data 24.2).
const maxIdles = 1 << 14

// commonPID returns a tracepoint sample's field common_pid, the id of its thread on the whole
// machine; 0 if the sample does not have it.
func (r *reader) commonPID(body []byte) int32 {
	var s sample
	if !r.readSample(0, body, &s) || s.event < 0 {
		return 0
	}
	format := r.formatOf(r.events[s.event])
	if format == nil {
		return 0
	}
	n := format.Field("common_pid")
	if n < 0 {
		return 0
	}
	tid, _ := format.Fields[n].Number(s.raw, r.big)
	return int32(tid)
}

// joinThreads maps the ids of threads on the whole machine to those in perf's process namespace.
// An id that two threads of the namespace had stays unknown.
func (r *reader) joinThreads() {
	if !r.sched.foreign {
		return
	}
	r.sched.local = map[int32]int32{0: 0}
	for tid, o := range r.found.owners {
		if _, twice := r.sched.local[o.global]; twice {
			tid = 0
		}
		r.sched.local[o.global] = tid
	}
}
