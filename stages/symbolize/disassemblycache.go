package symbolize

import (
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"stackmill/schema"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/program"
)

// DisassemblyCache keeps what is known of disassembled functions, without their instructions, for
// other experiments of the same programs. It is safe for concurrent use.
type DisassemblyCache struct {
	mu      sync.Mutex
	entries map[disassemblyKey]*cachedDisassembly
	bytes   int
}

// maxCacheBytes bounds the memory of a cache. A full cache is emptied.
const maxCacheBytes = 16 << 20

// disassemblyKey holds all properties that determine a function's instructions.
type disassemblyKey struct {
	table                 string // symtab.Table.Key
	name                  string
	offset, address, size uint64
	within                int
	pcs                   string // the PCs, if the instructions depend on them
}

// cachedDisassembly is a Disassembly without its instructions.
type cachedDisassembly struct {
	content      int64
	count        int
	instructions []uint32          // of a function listed whole: twice each one's distance from the start, plus 1 if it is a call
	end          uint64            // offset after the last instruction
	starts       map[uint64]uint64 // Disassembly.Starts of a function that is not listed whole
}

// NewDisassemblyCache returns an empty cache.
func NewDisassemblyCache() *DisassemblyCache {
	return &DisassemblyCache{entries: map[disassemblyKey]*cachedDisassembly{}}
}

func (o *DisassemblyCache) get(k disassemblyKey) *cachedDisassembly {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.entries[k]
}

func (o *DisassemblyCache) put(k disassemblyKey, f *cachedDisassembly) {
	const overhead = 256
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.bytes > maxCacheBytes {
		clear(o.entries)
		o.bytes = 0
	}
	o.entries[k] = f
	o.bytes += overhead + len(k.pcs) + 4*len(f.instructions) + 32*len(f.starts)
}

// cacheKey returns the key of a function's whole code. ok is false if the function cannot be
// cached: the key would not determine its instructions.
func (d *Disassembler) cacheKey(function program.FunctionNo, within int) (k disassemblyKey, ok bool) {
	f := &d.r.Program.Functions[function]
	t := d.r.loadObjects[f.Object].table
	if t == nil || t.Key == "" || t.Alone || d.r.generatedCode[function] != nil {
		return k, false
	}
	return disassemblyKey{table: t.Key, name: f.Name, offset: f.Offset, address: f.Address, size: f.Size, within: within}, true
}

// listsWhole reports whether all instructions of a function are listed, wherever its PCs are. Of a
// procedure linkage table, only sections with PCs are listed.
func (d *Disassembler) listsWhole(function program.FunctionNo, within int) bool {
	kind := d.r.Program.Functions[function].Kind
	return within == All && kind != funcinfo.PLT && kind != funcinfo.Static
}

// Cached returns the result of Function without the instructions, or false if it is not cached.
func (d *Disassembler) Cached(function program.FunctionNo, pcs []uint64, within int) (out Disassembly, ok bool) {
	k, ok := d.cacheKey(function, within)
	if !ok {
		return out, false
	}
	if d.listsWhole(function, within) {
		f := d.cache.get(k)
		if f == nil {
			return out, false
		}
		if f.count == 0 || f.covers(k.offset, pcs) {
			return Disassembly{Count: f.count, Content: f.content, Starts: f.startsAt(k.offset, pcs)}, true
		}
	}
	k.pcs = string(arrow.Uint64Traits.CastToBytes(pcs))
	f := d.cache.get(k)
	if f == nil {
		return out, false
	}
	return Disassembly{Count: f.count, Content: f.content, Starts: f.starts}, true
}

// store adds a disassembly to the cache. covered says that each PC is in one of its instructions.
func (d *Disassembler) store(out *Disassembly, function program.FunctionNo, pcs []uint64, within int, covered bool) {
	k, ok := d.cacheKey(function, within)
	if !ok {
		return
	}
	f := &cachedDisassembly{content: out.Content, count: out.Count}
	if covered && d.listsWhole(function, within) {
		for n, i := range out.Instructions {
			f.instructions = append(f.instructions, uint32(i.Offset-k.offset)<<1)
			if d.calls[n] {
				f.instructions[n]++
			}
			f.end = i.Offset - k.offset + uint64(i.Size)
		}
	} else {
		k.pcs, f.starts = string(arrow.Uint64Traits.CastToBytes(pcs)), out.Starts
	}
	d.cache.put(k, f)
}

// covers reports whether all PCs, which are sorted, are in instructions of the function.
func (f *cachedDisassembly) covers(offset uint64, pcs []uint64) bool {
	return len(pcs) == 0 || pcs[0] >= offset && pcs[len(pcs)-1]-offset < f.end
}

// startsAt returns Disassembly.Starts for some PCs of a function that was cached as a whole.
func (f *cachedDisassembly) startsAt(offset uint64, pcs []uint64) (starts map[uint64]uint64) {
	at := func(n int) (start, end uint64, call bool) {
		end = offset + f.end
		if n+1 < len(f.instructions) {
			end = offset + uint64(f.instructions[n+1]>>1)
		}
		return offset + uint64(f.instructions[n]>>1), end, f.instructions[n]&1 != 0
	}
	for _, pc := range pcs {
		if n := instructionAt(pc, len(f.instructions), at); n >= 0 {
			if start, _, _ := at(n); start != pc {
				addStart(&starts, pc, start)
			}
		}
	}
	return starts
}

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
