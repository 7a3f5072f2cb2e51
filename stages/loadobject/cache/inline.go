package cache

import (
	"stackmill/stages/loadobject/columns"
	"stackmill/stages/loadobject/symtab"
)

func (e encoder) inlines(in *symtab.Inlines) {
	e.Texts(in.Names)
	e.Uint(uint64(len(in.Calls)))
	for i, c := range in.Calls {
		e.Uint(uint64(c.Name))
		e.Uint(uint64(c.File + 1))
		e.Uint(uint64(c.Line))
		e.Uint(uint64(int32(i) - c.Around - 1))
		e.Uint(uint64(c.Start))
		e.Uint(uint64(c.Discriminator))
	}
	e.Uint(uint64(len(in.Offsets)))
	var last uint64
	for _, v := range in.Offsets {
		e.Uint(v - last)
		last = v
	}
	var call, line int32
	for i := range in.Offsets {
		e.Int(int64(in.Call[i] - call))
		e.Uint(uint64(in.File[i] + 1))
		e.Int(int64(in.Line[i] - line))
		call, line = in.Call[i], in.Line[i]
	}
	e.discriminators(in.Discriminator)
}

// inlines reads the calls, each of which lies in one before it, so that chains
// end, and then their code.
func (d decoder) inlines(t *symtab.Table) {
	in := &t.Inlines
	in.Names = d.Texts()
	in.Calls = columns.Slice[symtab.Call](d.Count())
	for i := range in.Calls {
		c := &in.Calls[i]
		c.Name, c.File = d.Below(len(in.Names)), d.Below(len(t.Files)+1)-1
		c.Line = d.Below(1 << 31)
		c.Around = int32(i) - d.Below(i+1) - 1
		c.Start, c.Discriminator = d.Below(1<<31), d.Below(1<<31)
	}
	n := d.Count()
	in.Offsets = columns.Slice[uint64](n)
	in.Call, in.File, in.Line = columns.Slice[int32](n), columns.Slice[int32](n), columns.Slice[int32](n)
	var last uint64
	for i := range in.Offsets {
		last += d.Uint()
		in.Offsets[i] = last
	}
	var call, line int32
	for i := range in.Offsets {
		if call += int32(d.Int()); call < -1 || int(call) >= len(in.Calls) {
			d.Fail()
		}
		in.File[i] = d.Below(len(t.Files)+1) - 1
		line += int32(d.Int())
		in.Call[i], in.Line[i] = call, line
	}
	in.Discriminator = d.discriminators(n)
}
