package gprofng

import (
	"bytes"
	"fmt"
	"math"

	"stackmill/schema/diagnostic"
)

// The size of the blocks in which the collector writes a binary file (gprofng-experiment 1.6), and
// the smaller size of old formats (studio-experiment 3). Threads fill blocks concurrently; the file
// grows by whole blocks. The unused rest of a block is a packet without content, of type CLOSED if
// the next packet did not fit, EMPTY until then. A cut file shows by its length, by a packet or end
// mark that reaches beyond it, or by a CLOSED block without a successor.
const (
	blockSize    = 1 << 16
	oldBlockSize = 1 << 14
)

// blockLayout is the structure of a file: the size of its blocks, and the number of flows, 0 if
// unknown. Each thread belongs to a flow, and each flow fills a block of its own.
type blockLayout struct {
	size  int
	flows int64
}

// minFlows is the minimum number of flows. Machines with more CPUs have as many flows as CPUs.
const minFlows = 16

const (
	// maxBlank is how many blocks of NULs the reader skips in search of data.
	maxBlank = 1 << 14
	// maxThreads is how many threads the reader tells apart.
	maxThreads = 1 << 16
	// lastWrite is how long, in ns, a thread may take to write a packet. When the process ends, a
	// thread may have closed a block that long ago and not begun the next.
	lastWrite = 50_000_000
)

// blockLog keeps track of the blocks of a file.
type blockLog struct {
	blockLayout
	closed bool // the process ended or executed another program
	// shared says that several threads wrote packets, and packets have no thread id. Losses then
	// show only when other packets refer to missing ones.
	shared bool
	// expected maps a flow to the blocks that must follow its CLOSED blocks and were not found yet.
	// A block belongs to the flow of its first packet's thread.
	expected map[int64]expectedBlocks
	total    expectedBlocks // the sum over all flows
	threads  map[int64]struct{}
	block    int   // number of the current block; -1 before the first
	flow     int64 // flow of the current block
	spare    int   // number of blocks whose flow is unknown
	mixed    bool  // threads do not write in flows as assumed (blockLayout)
	blank    int   // number of blocks of NULs
	open     int   // number of blocks that were not full when the file ended
}

// expectedBlocks is a number of blocks that must follow, and the time of the last packet before
// them.
type expectedBlocks struct {
	count int
	time  int64
}

// noFlow is the flow of a block whose thread is unknown.
const noFlow = -1

// enterBlock begins the block whose first packet is at o.
func (r *packetReader) enterBlock(o int) {
	r.leaveBlock()
	r.end = r.blockEnd(o)
	b := &r.blocks
	if b.expected == nil {
		b.expected, b.threads, b.block = map[int64]expectedBlocks{}, map[int64]struct{}{}, -1
	}
	passed := o/b.size - b.block - 1 // skipped because of damage
	b.block, b.flow = o/b.size, r.flowOf(o)
	b.spare += passed
	b.total.count = max(0, b.total.count-passed-1)
	if d := b.expected[b.flow]; d.count > 0 {
		d.count--
		b.expected[b.flow] = d
	} else if b.flow == noFlow {
		b.spare++
	}
}

// blockEnd returns the end of the block that holds o, or of the file.
func (r *packetReader) blockEnd(o int) int {
	return min(o-o%r.blocks.size+r.blocks.size, len(r.data))
}

// leaveBlock ends a block: its last packet must belong to the same flow as the first.
func (r *packetReader) leaveBlock() {
	b := &r.blocks
	if r.last >= 0 && b.flow != noFlow && b.flow != r.flowOf(r.last) {
		b.mixed = true
	}
	r.last = -1
}

// flowOf returns the flow of the thread that wrote the packet at o.
func (r *packetReader) flowOf(o int) int64 {
	if r.blocks.flows == 0 || !r.plausible(o) {
		return noFlow
	}
	size, typ := r.header(o)
	f := r.types[typ].thread
	if f.width == 0 {
		return noFlow
	}
	thread := f.get(r.data[o:o+size], r.order)
	if len(r.blocks.threads) < maxThreads {
		r.blocks.threads[thread] = struct{}{}
	}
	return int64(uint64(thread) % uint64(r.blocks.flows))
}

// endMark handles a packet without content, usually the end of its block. Inside a block it is
// skipped (gprofng-experiment 3.1).
func (r *packetReader) endMark(o, size int, typ uint16) {
	end := o + size
	switch {
	case end < r.end:
		if !r.follows(end) {
			r.damage(o, "padding ends where no packet begins")
			return
		}
		r.report(diagnostic.Warning, int64(o), "empty-packet", fmt.Sprintf("a packet of %d bytes inside a block has no type: if it was an event, it is lost", size), 1)
		r.pos = end
	case end > r.end:
		if r.end < len(r.data) || r.end%r.blocks.size == 0 || !allZero(r.data[o+packetHeader:r.end]) {
			r.damage(o, "padding extends beyond its block")
			return
		}
		r.cut(o, "the file ends inside the padding of a block")
		r.pos = r.end
	default:
		rest := r.data[o+packetHeader : end]
		if n := leadingZeros(rest); n < len(rest) {
			r.hiddenContent(o, o+packetHeader+n&^(packetAlign-1))
			return
		}
		if typ == typeClosed {
			r.close()
		} else {
			r.blocks.open++
		}
		r.pos = end
	}
}

// close notes that the current block is full, so that another block must follow.
func (r *packetReader) close() {
	b := &r.blocks
	var time int64
	if r.last >= 0 {
		_, typ := r.header(r.last)
		time = r.types[typ].time.get(r.data[r.last:], r.order)
	}
	b.expected[b.flow] = expectedBlocks{b.expected[b.flow].count + 1, time}
	b.total = expectedBlocks{b.total.count + 1, time}
}

// hiddenContent handles a block whose padding starts at o but has content at p. A killed collector
// may leave both the old and, after it, the new end mark of a block.
func (r *packetReader) hiddenContent(o, p int) {
	if size, typ := r.header(p); typ == typeEmpty && p+size == r.end && allZero(r.data[p+packetHeader:r.end]) {
		r.pos = p
		return
	}
	r.damage(o, "padding contains data")
}

// skipBlanks skips NULs at o, where a packet should begin. A whole block of NULs was never written.
func (r *packetReader) skipBlanks(o int) {
	p := r.end
	if !allZero(r.data[o:r.end]) {
		p = o + bytes.IndexFunc(r.data[o:r.end], func(c rune) bool { return c != 0 })
	}
	switch {
	case p < r.end:
		start := max(p&^(packetAlign-1), o+packetAlign)
		r.resync(o, start, "a packet's size is 0, but the block continues")
	case o%r.blocks.size != 0:
		r.report(diagnostic.Error, int64(o), "bad-packet", "a block has only NULs from here to its end: its packets there are lost", 1)
		r.pos = r.end
	default:
		r.blocks.blank++
		r.pos = r.end
		if r.release != nil && r.blocks.blank%(releaseStep/r.blocks.size) == 0 {
			r.release()
		}
	}
}

// skipRest skips the rest of a file with more NULs than a collector can have written.
func (r *packetReader) skipRest() {
	r.report(diagnostic.Error, int64(r.pos), "bad-packet", fmt.Sprintf("the file has %d blocks of NULs up to here: the rest is not read", r.blocks.blank), 1)
	r.pos, r.truncated = len(r.data), true
}

// cut reports that the end of the file is missing.
func (r *packetReader) cut(at int, why string) {
	r.truncated = true
	r.report(diagnostic.Error, int64(at), "truncated", why+": what followed is lost", 1)
}

// finish reports the losses that blocks show once the file is read. end is the time at which the
// process ended, on the recording's clock.
func (r *packetReader) finish(end int64) {
	r.leaveBlock()
	b, length := &r.blocks, len(r.data)
	missing := b.missing()
	switch {
	case r.truncated:
	case length%b.size != 0:
		r.cut(length, fmt.Sprintf("the file has %d bytes, not a multiple of the block size %d", length, b.size))
	case missing.count > 0:
		severity, what := diagnostic.Error, "the file was cut"
		if b.shared || len(b.threads) > 1 && end-missing.time <= lastWrite {
			severity, what = diagnostic.Warning, "the file was cut, or the process ended while a thread was writing"
		}
		r.report(severity, int64(length), "truncated", "blocks are full, but no others follow: "+what, int64(missing.count))
	}
	if b.blank > 0 {
		severity := diagnostic.Warning
		if !b.shared && (b.closed && len(b.threads) == 1 || b.blank > max(1, len(b.threads))) {
			severity = diagnostic.Error
		}
		r.report(severity, int64(length), "blank-blocks", "blocks consist of NULs: their packets are lost, or the process ended while a thread was writing", int64(b.blank))
	}
}

// missing returns how many blocks are missing, and the earliest time at which an event may be lost.
func (b *blockLog) missing() expectedBlocks {
	if b.mixed || b.flows == 0 {
		return b.total
	}
	missing := expectedBlocks{-b.spare, math.MaxInt64}
	for _, d := range b.expected {
		if d.count > 0 {
			missing = expectedBlocks{missing.count + d.count, min(missing.time, d.time)}
		}
	}
	if missing.count < b.total.count {
		return b.total
	}
	return missing
}
