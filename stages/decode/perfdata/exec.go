package perfdata

import "stackmill/stages/decode"

// execution is a process that is executing a new program: its mappings are already the new
// program's, while the user registers, which hold the callers of samples in the kernel, are still
// the old program's.
type execution struct {
	time int64 // when the old mappings end
	old  []decode.MapEvent
	new  []decode.MapEvent
	base *snapshot // older mappings of the old program than old
}

// beginExec begins the execution of a program.
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

// endExec ends an execution, if there is one.
func (p *process) endExec() {
	x := p.exec
	if x == nil {
		return
	}
	p.exec = nil
	if x.base != nil {
		p.drops = append(p.drops, sharedUnmap{x.base, x.old, x.time, len(p.Image), len(p.Data)})
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
