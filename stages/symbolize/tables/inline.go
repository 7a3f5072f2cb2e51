package tables

import "stackmill/stages/symbolize/symtab"

func (e *encoder) inlines(in *symtab.Inlines) {
	e.texts(in.Names)
	e.uint(uint64(len(in.Calls)))
	for i, c := range in.Calls {
		e.uint(uint64(c.Name))
		e.uint(uint64(c.File + 1))
		e.uint(uint64(c.Line))
		e.uint(uint64(int32(i) - c.Around - 1))
	}
	e.uint(uint64(len(in.Offsets)))
	var last uint64
	for _, v := range in.Offsets {
		e.uint(v - last)
		last = v
	}
	var call, line int32
	for i := range in.Offsets {
		e.int(int64(in.Call[i] - call))
		e.uint(uint64(in.File[i] + 1))
		e.int(int64(in.Line[i] - line))
		call, line = in.Call[i], in.Line[i]
	}
}

// inlines reads the calls, each of which lies in one before it, so that chains
// end, and then their code.
func (d *decoder) inlines(t *symtab.Table) {
	in := &t.Inlines
	in.Names = d.texts()
	in.Calls = slice[symtab.Call](d.count())
	for i := range in.Calls {
		c := &in.Calls[i]
		c.Name, c.File = d.below(len(in.Names)), d.below(len(t.Files)+1)-1
		c.Line = d.below(1 << 31)
		c.Around = int32(i) - d.below(i+1) - 1
	}
	n := d.count()
	in.Offsets = slice[uint64](n)
	in.Call, in.File, in.Line = slice[int32](n), slice[int32](n), slice[int32](n)
	var last uint64
	for i := range in.Offsets {
		last += d.uint()
		in.Offsets[i] = last
	}
	var call, line int32
	for i := range in.Offsets {
		if call += int32(d.int()); call < -1 || int(call) >= len(in.Calls) {
			d.fail()
		}
		in.File[i] = d.below(len(t.Files)+1) - 1
		line += int32(d.int())
		in.Call[i], in.Line[i] = call, line
	}
}
