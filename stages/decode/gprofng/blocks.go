package gprofng

import (
	"bytes"
	"fmt"
	"math"

	"stackmill/schema/diagnostic"
)

// The collector writes a binary file in blocks of this size (gprofng-experiment
// 1.6), or of the smaller one in old formats (studio-experiment 3). Threads fill blocks side by side; the file grows by whole blocks. A block
// that is not full ends in a packet without content that reaches to its end: CLOSED
// if the next packet did not fit, EMPTY until then. So a cut file can be recognised:
// by its length, by a packet or an end that reaches beyond the file, or by a CLOSED
// block that no other block follows.
const (
	blockSize    = 1 << 16
	oldBlockSize = 1 << 14
)

// blockLayout is how a file is divided: the size of blocks, and the number of flows in
// which threads fill them, each with a block of its own; 0 if it is unknown.
type blockLayout struct {
	size  int
	flows int64
}

// minFlows is the least number of flows in which threads write, each with blocks of
// its own. On machines with more processors there are as many flows as processors.
const minFlows = 16

const (
	// maxBlank is how many blocks of NULs are searched for data after them.
	maxBlank = 1 << 14
	// maxThreads bounds how many threads are distinguished.
	maxThreads = 1 << 16
	// lastWrite is how long, in ns, a thread may take to write a packet while the
	// process ends: it may have closed a block and not begun the next.
	lastWrite = 50_000_000
)

// blockLog accounts for the blocks of one file.
type blockLog struct {
	blockLayout
	// owed are the CLOSED blocks of each flow whose next block is missing so far. A
	// block's flow is that of its first packet's thread.
	owed    map[int64]debt
	all     debt // the same, whatever the flow
	threads map[int64]struct{}
	block   int   // number of the block that is read
	flow    int64 // its flow
	spare   int   // blocks of unknown flow
	mixed   bool  // threads do not write in flows as assumed
	blank   int   // blocks that have only NULs
	open    int   // blocks that were not full at the end
}

// debt is a number of blocks that must follow, and when the last one was closed.
type debt struct {
	count int
	time  int64
}

// noFlow is the flow of a block whose thread is unknown.
const noFlow = -1

// enter begins the block whose first packet is at o.
func (r *packetReader) enter(o int) {
	r.leave()
	r.end = r.blockEnd(o)
	b := &r.blocks
	if b.owed == nil {
		b.owed, b.threads, b.block = map[int64]debt{}, map[int64]struct{}{}, -1
	}
	passed := o/b.size - b.block - 1 // by damage
	b.block, b.flow = o/b.size, r.flowOf(o)
	b.spare += passed
	b.all.count = max(0, b.all.count-passed-1)
	if d := b.owed[b.flow]; d.count > 0 {
		d.count--
		b.owed[b.flow] = d
	} else if b.flow == noFlow {
		b.spare++
	}
}

// blockEnd returns the end of the block that holds o, or of the file.
func (r *packetReader) blockEnd(o int) int {
	return min(o-o%r.blocks.size+r.blocks.size, len(r.data))
}

// leave ends a block: its last packet must belong to the same flow as the first.
func (r *packetReader) leave() {
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

// endMark handles a packet without content, usually the end of its block. Inside a
// block it is skipped (gprofng-experiment 3.1).
func (r *packetReader) endMark(o, size int, typ uint16) {
	end := o + size
	switch {
	case end < r.end:
		if !r.follows(end) {
			r.damage(o, "padding ends in the middle of something")
			return
		}
		r.report(diagnostic.Warning, int64(o), "empty-packet", fmt.Sprintf("%d bytes inside a block are a packet without a type: if it was an event, it is lost", size), 1)
		r.pos = end
	case end > r.end:
		if r.end < len(r.data) || r.end%r.blocks.size == 0 || !allZero(r.data[o+packetHeader:r.end]) {
			r.damage(o, "padding ends after its block")
			return
		}
		r.cut(o, "the file ends inside the padding of a block")
		r.pos = r.end
	default:
		rest := r.data[o+packetHeader : end]
		if n := leadingZeros(rest); n < len(rest) {
			r.hidden(o, o+packetHeader+n&^(packetAlign-1))
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

// close notes that the block is full, so that another must follow.
func (r *packetReader) close() {
	b := &r.blocks
	var time int64
	if r.last >= 0 {
		_, typ := r.header(r.last)
		time = r.types[typ].time.get(r.data[r.last:], r.order)
	}
	b.owed[b.flow] = debt{b.owed[b.flow].count + 1, time}
	b.all = debt{b.all.count + 1, time}
}

// hidden handles a block whose padding, which starts at o, holds something at p. A
// collector that is killed may leave the new end of a block after the old one.
func (r *packetReader) hidden(o, p int) {
	if size, typ := r.header(p); typ == typeEmpty && p+size == r.end && allZero(r.data[p+packetHeader:r.end]) {
		r.pos = p
		return
	}
	r.damage(o, "padding holds something")
}

// blanks skips NULs. Only a block to which nothing was written has them.
func (r *packetReader) blanks(o int) {
	p := r.end
	if !allZero(r.data[o:r.end]) {
		p = o + bytes.IndexFunc(r.data[o:r.end], func(c rune) bool { return c != 0 })
	}
	switch {
	case p < r.end:
		start := max(p&^(packetAlign-1), o+packetAlign)
		r.resync(o, start, "a packet's size is 0, but the block continues")
	case o%r.blocks.size != 0:
		r.report(diagnostic.Error, int64(o), "bad-packet", "a block continues with NULs up to its end: what was there is lost", 1)
		r.pos = r.end
	default:
		r.blocks.blank++
		r.pos = r.end
		if r.release != nil && r.blocks.blank%(releaseStep/r.blocks.size) == 0 {
			r.release()
		}
	}
}

// blankRest skips the rest of a file that has more NULs than a collector could have
// written.
func (r *packetReader) blankRest() {
	r.report(diagnostic.Error, int64(r.pos), "bad-packet", fmt.Sprintf("the file has %d blocks of NULs up to here: the rest is not read", r.blocks.blank), 1)
	r.pos, r.truncated = len(r.data), true
}

// cut reports that the file was longer.
func (r *packetReader) cut(at int, why string) {
	r.truncated = true
	r.report(diagnostic.Error, int64(at), "truncated", why+": what followed is lost", 1)
}

// finish reports what the blocks show once all are read. end is when the process
// ended, on the recording's clock.
func (r *packetReader) finish(end int64) {
	r.leave()
	b, length := &r.blocks, len(r.data)
	missing := b.missing()
	switch {
	case r.truncated:
	case length%b.size != 0:
		r.cut(length, fmt.Sprintf("the file has %d bytes, not a multiple of the block size %d", length, b.size))
	case missing.count > 0:
		severity, what := diagnostic.Error, "the file was cut"
		if r.shared || len(b.threads) > 1 && end-missing.time <= lastWrite {
			severity, what = diagnostic.Warning, "the file was cut, or the process ended while a thread was writing"
		}
		r.report(severity, int64(length), "truncated", "blocks are full, but no others follow: "+what, int64(missing.count))
	}
	if b.blank > 0 {
		severity := diagnostic.Warning
		if !r.shared && (r.closed && len(b.threads) == 1 || b.blank > max(1, len(b.threads))) {
			severity = diagnostic.Error
		}
		r.report(severity, int64(length), "blank-blocks", "blocks hold nothing but NULs: what was there is lost, or the process ended while a thread was writing", int64(b.blank))
	}
}

// missing returns how many blocks are missing, and the time of the first event that may
// be lost.
func (b *blockLog) missing() debt {
	if b.mixed || b.flows == 0 {
		return b.all
	}
	missing := debt{-b.spare, math.MaxInt64}
	for _, d := range b.owed {
		if d.count > 0 {
			missing = debt{missing.count + d.count, min(missing.time, d.time)}
		}
	}
	if missing.count < b.all.count {
		return b.all
	}
	return missing
}
