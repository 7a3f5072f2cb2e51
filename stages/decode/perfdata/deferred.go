package perfdata

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
)

// The attr flags of events with deferred user chains, and of the event that outputs them.
const (
	flagDeferCallchain = 1 << 38
	flagDeferOutput    = 1 << 39
)

// deferredLimit is the maximum number of addresses in a deferred chain: a page minus a 16-byte
// header.
const deferredLimit = (4096 - 16) / 8

// deferredChain is a CALLCHAIN_DEFERRED record. When a thread returns to user code, the kernel
// records one user chain for all samples since the thread entered the kernel (perf-data 5.1). Those
// samples have a cookie instead of a user chain.
type deferredChain struct {
	cookie, time uint64
	at           recordOffset
	tid          int32
	used         bool
}

func (d *deferredChain) compare(cookie uint64, tid int32) int {
	return cmp.Or(cmp.Compare(d.cookie, cookie), cmp.Compare(d.tid, tid))
}

// addDeferred notes the offset of a CALLCHAIN_DEFERRED record.
func (r *reader) addDeferred(p *recordRun, at recordOffset, body []byte) {
	c := cursorOf(body, r.big)
	cookie := c.U64()
	if c.list(8); c.Short {
		r.problemIn(p.name, diagnostic.Error, at.offset(), "bad-record", "a deferred call chain has more addresses than its record")
		return
	}
	r.found.deferred = append(r.found.deferred, deferredChain{cookie: cookie, time: r.trailerTime(body), at: at, tid: r.trailerTID(body)})
}

// trailerTID returns the thread in a record's trailer, 0 if there is none.
func (p *recordParser) trailerTID(body []byte) int32 {
	size := p.trailerSize()
	if size == 0 || size > len(body) || p.events[0].sampleType&sampleTID == 0 {
		return 0
	}
	c := cursorOf(body[len(body)-size:], p.big)
	c.U32() // process
	return c.s32()
}

// sortDeferred puts the chains in the order that findDeferred needs.
func (r *reader) sortDeferred() {
	slices.SortFunc(r.found.deferred, func(a, b deferredChain) int {
		return cmp.Or(a.compare(b.cookie, b.tid), cmp.Compare(a.time, b.time), cmp.Compare(a.at, b.at))
	})
}

// findDeferred returns the words of the chain for a sample's cookie: the first chain with this
// cookie that the thread recorded after the sample; nil if there is none.
func (r *stackReader) findDeferred(cookie uint64, s *sample) []byte {
	tid := s.tid
	if r.trailerSize() == 0 || r.events[0].sampleType&sampleTID == 0 {
		tid = 0
	}
	from := sort.Search(len(r.found.deferred), func(i int) bool { return r.found.deferred[i].compare(cookie, tid) >= 0 })
	end := from + sort.Search(len(r.found.deferred)-from, func(i int) bool { return r.found.deferred[from+i].compare(cookie, tid) > 0 })
	if from == end {
		return nil
	}
	n := from + sort.Search(end-from, func(i int) bool { return r.found.deferred[from+i].time >= s.when() })
	d := &r.found.deferred[min(n, end-1)] // the last chain if all are earlier: the CPUs' clocks may differ a little
	if !d.used {
		d.used = true
	}
	_, body := r.body(d.at)
	c := cursorOf(body[8:], r.big)
	return c.list(8)
}

// judgeDeferred reports deferred chains without a sample.
func (r *reader) judgeDeferred() {
	unused := int64(0)
	for i := 0; i < len(r.found.deferred); {
		first, used := &r.found.deferred[i], false
		for ; i < len(r.found.deferred) && r.found.deferred[i].compare(first.cookie, first.tid) == 0; i++ {
			used = used || r.found.deferred[i].used
		}
		if !used { // several events may output the same chain
			unused++
		}
	}
	r.count(diagnostic.Info, unused, "deferred-chain-unused", "deferred call chains do not belong to any sample")
	message := "samples lack the user part of their call chain: it was deferred and never recorded"
	if !slices.ContainsFunc(r.events, func(e *event) bool { return e.flags&flagDeferOutput != 0 }) {
		message += fmt.Sprintf("; none of the %d events outputs deferred call chains (defer_output)", len(r.events))
	}
	r.count(diagnostic.Warning, r.stats.incomplete[decode.ReasonDeferred], "deferred-chain-missing", message)
}
