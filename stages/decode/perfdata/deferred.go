package perfdata

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"stackmill/schema/diagnostic"
)

// The flags of an attr whose user chains are recorded on the way back to user code,
// and of one that outputs them.
const (
	flagDeferCallchain = 1 << 38
	flagDeferOutput    = 1 << 39
)

// deferredLimit is how many addresses the kernel keeps of such a chain: what fits
// into a page after 16 bytes of its own.
const deferredLimit = (4096 - 16) / 8

// deferred is the place of a user chain that was recorded when its thread went back
// to user code, for all samples since it had left it (perf-data 5.1). Those have a
// cookie instead of a chain.
type deferred struct {
	cookie, time uint64
	at           place
	tid          int32
	used         bool
}

func (d *deferred) compare(cookie uint64, tid int32) int {
	return cmp.Or(cmp.Compare(d.cookie, cookie), cmp.Compare(d.tid, tid))
}

// deferredAt keeps the place of a CALLCHAIN_DEFERRED record.
func (r *reader) deferredAt(p *piece, at place, body []byte) {
	c := cursorOf(body, r.big)
	cookie := c.U64()
	if c.list(8); c.Short {
		r.problemIn(p.name, diagnostic.Error, at.offset(), "bad-record", "a deferred call chain has more addresses than its record")
		return
	}
	r.deferred = append(r.deferred, deferred{cookie: cookie, time: r.trailerTime(body), at: at, tid: r.trailerTID(body)})
}

// trailerTID is the thread of a record other than a sample; 0 if it was not recorded.
func (r *reader) trailerTID(body []byte) int32 {
	size := r.trailerSize()
	if size == 0 || size > len(body) || r.events[0].sampleType&sampleTID == 0 {
		return 0
	}
	c := cursorOf(body[len(body)-size:], r.big)
	c.U32() // process
	return c.s32()
}

// sortDeferred puts the chains in the order that deferredChain needs.
func (r *reader) sortDeferred() {
	slices.SortFunc(r.deferred, func(a, b deferred) int {
		return cmp.Or(a.compare(b.cookie, b.tid), cmp.Compare(a.time, b.time), cmp.Compare(a.at, b.at))
	})
}

// deferredChain returns the words of the chain for a sample's cookie: the first that
// its thread recorded since, nil if there is none.
func (r *stackReader) deferredChain(cookie uint64, s *sample) []byte {
	tid := s.tid
	if r.trailerSize() == 0 || r.events[0].sampleType&sampleTID == 0 {
		tid = 0
	}
	from := sort.Search(len(r.deferred), func(i int) bool { return r.deferred[i].compare(cookie, tid) >= 0 })
	end := from + sort.Search(len(r.deferred)-from, func(i int) bool { return r.deferred[from+i].compare(cookie, tid) > 0 })
	if from == end {
		return nil
	}
	n := from + sort.Search(end-from, func(i int) bool { return r.deferred[from+i].time >= s.when() })
	d := &r.deferred[min(n, end-1)] // clocks of CPUs may differ a little
	if !d.used {
		d.used = true
	}
	_, body := r.body(d.at)
	c := cursorOf(body[8:], r.big)
	return c.list(8)
}

// judgeDeferred records which deferred chains found no sample.
func (r *reader) judgeDeferred() {
	unused := int64(0)
	for i := 0; i < len(r.deferred); {
		first, used := &r.deferred[i], false
		for ; i < len(r.deferred) && r.deferred[i].compare(first.cookie, first.tid) == 0; i++ {
			used = used || r.deferred[i].used
		}
		if !used { // several events may have output the same
			unused++
		}
	}
	r.count(diagnostic.Info, unused, "deferred-chain-unused", "deferred call chains do not belong to any sample")
	message := "samples lack the user part of their call chain: it was deferred and never recorded"
	if !slices.ContainsFunc(r.events, func(e *event) bool { return e.flags&flagDeferOutput != 0 }) {
		message += fmt.Sprintf("; none of the %d events outputs deferred call chains (defer_output)", len(r.events))
	}
	r.count(diagnostic.Warning, r.missingDeferred, "deferred-chain-missing", message)
}
