package perfdata

import "stackmill/stages/decode"

// execution is the time in which a process executes a program: the mappings are
// already those of the new program, the user's registers still those of the old one,
// which holds the callers of samples in the kernel.
type execution struct {
	time int64 // when the old program's mappings were given up
	old  []decode.MapEvent
	new  []decode.MapEvent
	base *snapshot // more of the old program's, older than old
}

// execute begins the execution of a program.
func (p *process) execute(time int64) {
	p.executed()
	p.exec = &execution{time: time, old: visible(p.mapped()), base: p.base}
}

// mapped adds a mapping of the new program. The vdso is mapped last before the program
// starts: the old program's mappings are valid until then, the new ones after that.
func (x *execution) mapped(p *process, m decode.MapEvent) {
	if x.new = append(x.new, m); m.Path != "[vdso]" {
		return
	}
	x.time = m.Time
	for i := range x.new {
		x.new[i].Time = m.Time
	}
	p.executed()
}

// executed ends an execution, if there is one.
func (p *process) executed() {
	x := p.exec
	if x == nil {
		return
	}
	p.exec = nil
	if x.base != nil {
		p.drops = append(p.drops, drop{x.base, x.old, x.time, len(p.Image), len(p.Data)})
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
