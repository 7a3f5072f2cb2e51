package perfdata

import (
	"slices"

	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
)

// snapshot is the mappings that a process had when it forked. Its children share
// them, so that memory does not grow with the number of forks times that of mappings.
type snapshot struct {
	base *snapshot // the older ones
	own  []decode.MapEvent
}

// drop is the end of shared mappings, when a process executed another program.
type drop struct {
	base        *snapshot
	over        []decode.MapEvent // later ones, which may hide them
	time        int64
	image, data int // how many mappings of its own the process had by then
}

// share returns the mappings of a process's program as of now.
func (p *process) share() *snapshot {
	if len(p.live) > 0 {
		p.base = &snapshot{p.base, visible(p.mapped())}
		p.live = nil
	}
	return p.base
}

// all returns the mappings of a snapshot, the oldest first.
func (s *snapshot) all() (list []decode.MapEvent) {
	var parts [][]decode.MapEvent
	for ; s != nil; s = s.base {
		parts = append(parts, s.own)
	}
	slices.Reverse(parts)
	return visible(slices.Concat(parts...))
}

// Bounds of what processes inherit.
const (
	// maxInherited is how many mappings they all inherit; beyond that, they inherit
	// only those that their samples touch.
	maxInherited = 1 << 19
	// maxSought is how many are looked at.
	maxSought = 1 << 28
	// maxDumps is how many dumps of run-time compilers they inherit.
	maxDumps = 1 << 16
)

// shared counts the mappings that processes have inherited so far.
type shared struct {
	last                  *snapshot
	list                  []decode.MapEvent // of last
	given, sought         int
	dumps                 int
	leftOut, lost, noDump int64
}

// of returns the mappings of a snapshot. The last is kept: successive processes mostly share it.
func (s *shared) of(base *snapshot) []decode.MapEvent {
	if base != s.last {
		s.last, s.list = base, base.all()
		s.sought += len(s.list)
	}
	return s.list
}

// heir is a process that gets the mappings that it shares with others.
type heir struct {
	t       *timeline
	p       *process
	touched []uint64 // addressesOf, once they are needed
	looked  bool
}

// inherit gives a process the mappings that it shares with others, from its fork to
// its exec.
func (t *timeline) inherit(p *process) {
	if p.forked == nil && len(p.drops) == 0 {
		return
	}
	h := heir{t: t, p: p}
	image, data := p.Image, p.Data
	p.Image, p.Data, p.exec, p.live = nil, nil, nil, nil
	for _, m := range h.some(t.shared.of(p.forked)) {
		m.Time = p.StartNS
		p.put(m)
	}
	before := drop{}
	for _, d := range p.drops {
		p.Image = append(p.Image, image[before.image:d.image]...)
		p.Data = append(p.Data, data[before.data:d.data]...)
		list := t.shared.of(d.base)
		if len(d.over) > 0 {
			list = visible(slices.Concat(list, d.over))
			list = list[:len(list)-len(d.over)] // none of those is hidden
		}
		for _, m := range h.some(list) {
			p.put(decode.MapEvent{Unmap: true, Time: d.time, Address: m.Address, Modes: m.Modes})
		}
		before = d
	}
	p.Image = append(p.Image, image[before.image:]...)
	p.Data = append(p.Data, data[before.data:]...)
}

// some returns all mappings of a list, or, once maxInherited are given out, those that
// the process's samples touch.
func (h *heir) some(list []decode.MapEvent) []decode.MapEvent {
	shared := &h.t.shared
	if shared.given += len(list); shared.given <= maxInherited {
		return list
	}
	if shared.sought += len(list); shared.sought > maxSought {
		shared.lost += int64(len(list))
		return nil
	}
	if !h.looked {
		h.touched, h.looked = h.t.r.addressesOf(h.p), true
	}
	var kept []decode.MapEvent
	for _, m := range list {
		// A return address may be the first byte after the code.
		if i, _ := slices.BinarySearch(h.touched, m.Address); i < len(h.touched) && h.touched[i]-m.Address <= m.Size {
			kept = append(kept, m)
		}
	}
	shared.leftOut += int64(len(list) - len(kept))
	return kept
}

// inheritDumps gives a child the dumps of run-time compilers that its parent has open.
func (t *timeline) inheritDumps(child, parent *process) {
	for _, d := range parent.JITDumps {
		if d.Until != decode.Never {
			continue
		}
		if t.shared.dumps++; t.shared.dumps > maxDumps {
			t.shared.noDump++
			continue
		}
		d.From = child.StartNS
		child.JITDumps = append(child.JITDumps, d)
	}
}

// judgeInherited records what processes did not inherit.
func (t *timeline) judgeInherited() {
	t.r.count(diagnostic.Info, t.shared.leftOut, "unused-segments", "mappings that processes inherited are left out, because there are so many: no sample touches them")
	t.r.count(diagnostic.Error, t.shared.lost, "too-many-segments", "mappings that processes inherited are left out, because there are too many: code in them has no names")
	t.r.count(diagnostic.Warning, t.shared.noDump, "too-many-jitdumps", "dumps of run-time compilers that processes inherited are left out, because there are too many")
}

// addressesOf returns, sorted, the addresses that a process's samples may touch: code,
// data, and all words that the unwinder may find on a stack.
func (r *reader) addressesOf(p *process) (list []uint64) {
	list = p.Stacks.Words()
	for i := range p.rows.parts() {
		b, err := p.rows.part(i, r.space, r.accesses)
		r.spaceFailed(err)
		for _, address := range b.access[accessAddress] {
			list = append(list, uint64(address))
		}
	}
	var s sample
	in := stackReader{reader: r}
	for _, at := range p.dumps {
		if misc, body := in.body(at); !r.readSample(misc, body, &s) {
			continue
		}
		list = append(append(append(list, s.ip), words(s.regs, r.big)...), words(s.stack, r.big)...)
		const many = 1 << 20
		if len(list) > many {
			slices.Sort(list)
			list = slices.Compact(list)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
