package symbolize

import (
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"stackmill/schema"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/program"
)

// Outlines remember of functions that were disassembled all but the instructions
// themselves: experiments of the same programs have the same ones. They are safe for
// concurrent use.
type Outlines struct {
	mu    sync.Mutex
	known map[outlineKey]*outline
	bytes int
}

// maxOutlines bounds the memory that outlines take. They are forgotten when there are
// more: that costs time only.
const maxOutlines = 16 << 20

// outlineKey is all that the instructions of a function depend on.
type outlineKey struct {
	table                 string // symtab.Table.Key
	name                  string
	offset, address, size uint64
	within                int
	pcs                   string // those asked for, as far as they make a difference
}

// outline is what is remembered of a function's instructions.
type outline struct {
	content int64
	count   int
	starts  []uint32          // of a whole function: twice the distance from its start, and whether it is a call
	end     uint64            // where the last of them ends
	meant   map[uint64]uint64 // of others: Disassembly.Meant
}

// NewOutlines returns outlines of nothing.
func NewOutlines() *Outlines { return &Outlines{known: map[outlineKey]*outline{}} }

func (o *Outlines) find(k outlineKey) *outline {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.known[k]
}

func (o *Outlines) add(k outlineKey, f *outline) {
	const overhead = 256
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.bytes > maxOutlines {
		clear(o.known)
		o.bytes = 0
	}
	o.known[k] = f
	o.bytes += overhead + len(k.pcs) + 4*len(f.starts) + 32*len(f.meant)
}

// outlineKey returns the key of a function's whole code, and whether other functions of
// the same key have the same instructions.
func (d *Disassembler) outlineKey(function program.FunctionNo, within int) (k outlineKey, ok bool) {
	f := &d.r.Program.Functions[function]
	t := d.r.symbols[f.Object].table
	if t == nil || t.Key == "" || t.Alone || d.r.generatedCode[function] != nil {
		return k, false
	}
	return outlineKey{table: t.Key, name: f.Name, offset: f.Offset, address: f.Address, size: f.Size, within: within}, true
}

// isWhole reports whether a function is listed from its start to its end, whatever the
// PCs: a procedure linkage table has parts that no PC lies in.
func (d *Disassembler) isWhole(function program.FunctionNo, within int) bool {
	kind := d.r.Program.Functions[function].Kind
	return within == All && kind != funcinfo.PLT && kind != funcinfo.Static
}

// Known is Function without the instructions, if the same were asked for before.
func (d *Disassembler) Known(function program.FunctionNo, pcs []uint64, within int) (out Disassembly, ok bool) {
	k, ok := d.outlineKey(function, within)
	if !ok {
		return out, false
	}
	if d.isWhole(function, within) {
		f := d.outlines.find(k)
		if f == nil {
			return out, false
		}
		if f.count == 0 || f.covers(k.offset, pcs) {
			return Disassembly{Count: f.count, Content: f.content, Meant: f.meantAt(k.offset, pcs)}, true
		}
	}
	k.pcs = string(arrow.Uint64Traits.CastToBytes(pcs))
	f := d.outlines.find(k)
	if f == nil {
		return out, false
	}
	return Disassembly{Count: f.count, Content: f.content, Meant: f.meant}, true
}

// remember adds an outline of what was disassembled; covered says that it has the
// instructions of all PCs.
func (d *Disassembler) remember(out *Disassembly, function program.FunctionNo, pcs []uint64, within int, covered bool) {
	k, ok := d.outlineKey(function, within)
	if !ok {
		return
	}
	f := &outline{content: out.Content, count: out.Count}
	if covered && d.isWhole(function, within) {
		for n, i := range out.Instructions {
			f.starts = append(f.starts, uint32(i.Offset-k.offset)<<1)
			if d.calls[n] {
				f.starts[n]++
			}
			f.end = i.Offset - k.offset + uint64(i.Size)
		}
	} else {
		k.pcs, f.meant = string(arrow.Uint64Traits.CastToBytes(pcs)), out.Meant
	}
	d.outlines.add(k, f)
}

// covers reports whether sorted PCs lie in instructions.
func (f *outline) covers(offset uint64, pcs []uint64) bool {
	return len(pcs) == 0 || pcs[0] >= offset && pcs[len(pcs)-1]-offset < f.end
}

// meantAt is Disassembly.Meant of a whole function.
func (f *outline) meantAt(offset uint64, pcs []uint64) (meant map[uint64]uint64) {
	at := func(n int) (start, end uint64, call bool) {
		end = offset + f.end
		if n+1 < len(f.starts) {
			end = offset + uint64(f.starts[n+1]>>1)
		}
		return offset + uint64(f.starts[n]>>1), end, f.starts[n]&1 != 0
	}
	for _, pc := range pcs {
		if n := meantBy(pc, len(f.starts), at); n >= 0 {
			if start, _, _ := at(n); start != pc {
				note(&meant, pc, start)
			}
		}
	}
	return meant
}

// contentOf returns a hash of instructions.
func contentOf(list []Instruction) int64 {
	id := schema.NewID("instructions")
	for n := range list {
		i := &list[n]
		if i.HasTarget {
			id.Number(i.Target)
		}
		id.Number(i.Offset).Number(uint64(i.Size)).Text(i.Text).Text(i.TargetName).Text(i.File).Number(uint64(i.Line))
	}
	return id.Sum()
}
