package perfdata

import (
	"slices"

	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
)

// snapshot holds the mappings that a process had when it forked. Its children share them, so that
// memory does not grow with the product of forks and mappings.
type snapshot struct {
	base *snapshot // snapshot with the older mappings
	own  []decode.MapEvent
}

// sharedUnmap is the end of the mappings in base, when the process executed another program.
type sharedUnmap struct {
	base        *snapshot
	over        []decode.MapEvent // the process's own later mappings, which may hide some in base
	time        int64
	image, data int // lengths of Mappings and DataMappings at that time
}

// share returns a snapshot of a process's current mappings, for its children.
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

// Limits of what processes inherit.
const (
	// maxInherited is the maximum number of mappings that all processes together inherit. Beyond
	// that, a process inherits only mappings that its samples touch.
	maxInherited = 1 << 19
	// maxSought is the maximum number of mappings for which that is checked.
	maxSought = 1 << 28
	// maxDumps is the maximum number of jitdump files that all processes together inherit.
	maxDumps = 1 << 16
)

// inheritance counts the mappings that processes have inherited so far.
type inheritance struct {
	last                  *snapshot
	list                  []decode.MapEvent // the mappings of last
	given, sought         int
	dumps                 int
	leftOut, lost, noDump int64
}

// of returns the mappings of a snapshot. It caches the last result: successive processes mostly
// have the same snapshot.
func (s *inheritance) of(base *snapshot) []decode.MapEvent {
	if base != s.last {
		s.last, s.list = base, base.all()
		s.sought += len(s.list)
	}
	return s.list
}

// inheritor is a process that inherits mappings.
type inheritor struct {
	t       *timeline
	p       *process
	touched []uint64 // result of addressesOf, once looked is true
	looked  bool
}

// inherit adds to a process the mappings that it shares with others, from its fork to its exec.
func (t *timeline) inherit(p *process) {
	if p.forked == nil && len(p.drops) == 0 {
		return
	}
	h := inheritor{t: t, p: p}
	image, data := p.Mappings, p.DataMappings
	p.Mappings, p.DataMappings, p.exec, p.live = nil, nil, nil, nil
	for _, m := range h.choose(t.inheritance.of(p.forked)) {
		m.Time = p.StartNS
		p.put(m)
	}
	before := sharedUnmap{}
	for _, d := range p.drops {
		p.Mappings = append(p.Mappings, image[before.image:d.image]...)
		p.DataMappings = append(p.DataMappings, data[before.data:d.data]...)
		list := t.inheritance.of(d.base)
		if len(d.over) > 0 {
			list = visible(slices.Concat(list, d.over))
			list = list[:len(list)-len(d.over)] // without d.over, which is last and never hidden
		}
		for _, m := range h.choose(list) {
			p.put(decode.MapEvent{Unmap: true, Time: d.time, Address: m.Address, Modes: m.Modes})
		}
		before = d
	}
	p.Mappings = append(p.Mappings, image[before.image:]...)
	p.DataMappings = append(p.DataMappings, data[before.data:]...)
}

// choose returns all mappings of a list. Once more than maxInherited mappings were inherited, it
// returns only those that the process's samples touch.
func (h *inheritor) choose(list []decode.MapEvent) []decode.MapEvent {
	inheritance := &h.t.inheritance
	if inheritance.given += len(list); inheritance.given <= maxInherited {
		return list
	}
	if inheritance.sought += len(list); inheritance.sought > maxSought {
		inheritance.lost += int64(len(list))
		return nil
	}
	if !h.looked {
		h.touched, h.looked = h.t.r.addressesOf(h.p), true
	}
	var kept []decode.MapEvent
	for _, m := range list {
		if decode.Touches(h.touched, m.Address, m.Size) {
			kept = append(kept, m)
		}
	}
	inheritance.leftOut += int64(len(list) - len(kept))
	return kept
}

// inheritDumps gives a child the jitdump files that its parent has open.
func (t *timeline) inheritDumps(child, parent *process) {
	for _, d := range parent.JITDumps {
		if d.Until != decode.Never {
			continue
		}
		if t.inheritance.dumps++; t.inheritance.dumps > maxDumps {
			t.inheritance.noDump++
			continue
		}
		d.From = child.StartNS
		child.JITDumps = append(child.JITDumps, d)
	}
}

// judgeInherited reports the mappings that processes did not inherit.
func (t *timeline) judgeInherited() {
	t.r.count(diagnostic.Info, t.inheritance.leftOut, "unused-segments", "mappings that processes inherited are left out, because there are very many and no sample touches these")
	t.r.count(diagnostic.Error, t.inheritance.lost, "too-many-segments", "mappings that processes inherited are left out, because there are too many: code in them has no names")
	t.r.count(diagnostic.Warning, t.inheritance.noDump, "too-many-jitdumps", "jitdump files that processes inherited are left out, because there are too many")
}

// addressesOf returns, sorted, all addresses that a process's samples may touch: code, data, and
// every word that the unwinder may find on a stack.
func (r *reader) addressesOf(p *process) (list []uint64) {
	list = p.Stacks.Words()
	for i := range p.rows.parts() {
		b, err := p.rows.part(i, r.in.space, r.found.accesses)
		r.spaceFailed(err)
		for _, address := range b.wide[rowAddress] {
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

// execution is a process that is executing a new program: its mappings are already the new
// program's, while the user registers, which hold the callers of samples in the kernel, are still
// the old program's.
type execution struct {
	time int64 // when the old mappings end
	old  []decode.MapEvent
	new  []decode.MapEvent
	base *snapshot // image of the old program before the mappings in old
}

// beginExec notes that the process begins to execute a new program.
func (p *process) beginExec(time int64) {
	p.endExec()
	p.exec = &execution{time: time, old: visible(p.mapped()), base: p.base}
}

// mapped adds a mapping of the new program. The vdso is mapped last: the old mappings are valid
// until then, the new ones from then on.
func (x *execution) mapped(p *process, m decode.MapEvent) {
	if x.new = append(x.new, m); m.Path != "[vdso]" {
		return
	}
	x.time = m.Time
	for i := range x.new {
		x.new[i].Time = m.Time
	}
	p.endExec()
}

// endExec ends the execution that beginExec began, if there is one: it ends the old mappings and
// adds the new ones.
func (p *process) endExec() {
	x := p.exec
	if x == nil {
		return
	}
	p.exec = nil
	if x.base != nil {
		p.drops = append(p.drops, sharedUnmap{x.base, x.old, x.time, len(p.Mappings), len(p.DataMappings)})
		p.base = nil
	}
	for _, m := range x.old {
		p.add(decode.MapEvent{Unmap: true, Time: x.time, Address: m.Address, Modes: m.Modes})
	}
	p.live = nil
	for _, m := range x.new {
		p.add(m)
	}
}

// visible returns the mappings that later ones do not hide entirely. perf does not record the end
// of a mapping.
func visible(live []decode.MapEvent) []decode.MapEvent {
	h := newCoveredRanges(live)
	var kept []decode.MapEvent
	for _, m := range slices.Backward(live) {
		if h.cover(m.Address, m.Address+m.Size) {
			kept = append(kept, m)
		}
	}
	slices.Reverse(kept)
	return kept
}

// coveredRanges tracks which addresses are covered. Range i is from bounds[i] to bounds[i+1].
// next[i] is i if the range is uncovered, otherwise a later range, where the search for an
// uncovered one continues.
type coveredRanges struct {
	bounds []uint64 // sorted, distinct
	next   []int32
}

func newCoveredRanges(live []decode.MapEvent) *coveredRanges {
	h := &coveredRanges{bounds: make([]uint64, 0, 2*len(live))}
	for i := range live {
		h.bounds = append(h.bounds, live[i].Address, live[i].Address+live[i].Size)
	}
	slices.Sort(h.bounds)
	h.bounds = slices.Compact(h.bounds)
	h.next = make([]int32, len(h.bounds))
	for i := range h.next {
		h.next[i] = int32(i)
	}
	return h
}

// cover marks the addresses from start to end as covered, and reports whether some were uncovered.
// start and end must be in bounds.
func (h *coveredRanges) cover(start, end uint64) (any bool) {
	from, _ := slices.BinarySearch(h.bounds, start)
	to, _ := slices.BinarySearch(h.bounds, end)
	for i := h.open(int32(from)); int(i) < to; i = h.open(i) {
		any = true
		h.next[i] = i + 1
	}
	return any
}

// open returns the first uncovered range at or after index i.
func (h *coveredRanges) open(i int32) int32 {
	first := i
	for h.next[i] != i {
		i = h.next[i]
	}
	for h.next[first] != i {
		first, h.next[first] = h.next[first], i
	}
	return i
}
