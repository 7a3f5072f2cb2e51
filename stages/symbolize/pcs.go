package symbolize

import (
	"math/bits"
	"math/rand/v2"

	"stackmill/internal/chunked"
	"stackmill/stages/program"
	"stackmill/stages/symbolize/image"
)

// PCNo is the number of a PC of a recording. All PCs with one number have the same location.
type PCNo int32

// PCs numbers the PCs of a recording. A PC is an address together with what was mapped there.
// Processes that map a load object's file at the same address share its PCs.
type PCs struct {
	seed    uint64    // random, so that no recording can be made whose hashes collide
	table   []pcEntry // hash table; free slots are zero, the length is a power of 2
	n       int
	areas   []area // indexed by areaNo
	files   map[fileArea]areaNo
	edges   map[[2]areaNo]areaNo
	recent  []pcEntry // cache by a hash of the address; the length is a power of 2
	shift   int       // how far to shift a hash to the right to get an index in recent
	process int32     // the number of the current process, from 1
}

// areaNo is the index of an area in PCs.areas. 0 is no area.
type areaNo int32

// area is a set of addresses in which each address is one PC: a mapping of one process, all
// mappings of a load object's file with the same bias, or the addresses where nothing is mapped. It
// also holds the range of its addresses that was looked up last.
type area struct {
	first, last uint64
	from, until int64 // ns from the founder's start
	process     int32 // the process in which the range was looked up
}

func (a *area) has(pc uint64, t int64, process int32) bool {
	return a.first <= pc && pc <= a.last && a.from <= t && t < a.until && a.process == process
}

// fileArea is a load object's file mapped with some bias: offset is the one that address 0 would
// have in the file.
type fileArea struct {
	object program.ObjectNo
	offset uint64
}

// pcEntry is a PC (an address in an area) with its number.
type pcEntry struct {
	pc     uint64
	area   areaNo
	number PCNo
}

// firstPCs is the initial number of slots of PCs.table.
const firstPCs = 1 << 10

// maxRecentBits bounds the size of PCs.recent (1<<maxRecentBits entries), so that it stays in the
// processor's cache.
const maxRecentBits = 15

// NewPCs returns a table without PCs.
func NewPCs() *PCs {
	return &PCs{
		seed: rand.Uint64(), table: make([]pcEntry, firstPCs),
		areas: make([]area, 1), files: map[fileArea]areaNo{}, edges: map[[2]areaNo]areaNo{},
	}
}

// ProcessPCs numbers the PCs of one process. It is not safe for concurrent use, but its Process may
// be used concurrently.
type ProcessPCs struct {
	*PCs
	finder *image.Finder
	areaOf map[*image.Mapping]areaNo
	last   mappedArea // looked up last

	sink PCNo // never read: it keeps the compiler from removing the load in Fetch
}

type mappedArea struct {
	mapping *image.Mapping
	area    areaNo // 0 before the first lookup
}

// Process returns the ProcessPCs of the next process, whose stacks have this many words. The
// ProcessPCs that it returned before become invalid.
func (x *PCs) Process(pr *Process, words int) *ProcessPCs {
	x.process++
	if n := min(bits.Len(uint(words))+1, maxRecentBits); len(x.recent) < 1<<n {
		x.recent, x.shift = chunked.MakeTable[pcEntry](1<<n), 64-n
	}
	p := &ProcessPCs{PCs: x, finder: pr.Image.Finder(), areaOf: map[*image.Mapping]areaNo{}}
	for _, m := range pr.withTable {
		k := fileArea{m.object, m.FileOffset - m.Address}
		if x.files[k] == 0 {
			x.files[k] = x.newArea()
		}
		p.areaOf[m.Mapping] = x.files[k]
	}
	return p
}

func (x *PCs) newArea() areaNo {
	x.areas = append(x.areas, area{})
	return areaNo(len(x.areas) - 1)
}

// Number returns the number that a PC has at time t, and the time in which it has this number.
func (p *ProcessPCs) Number(pc uint64, t int64) (PCNo, program.Life) {
	n, a := p.number(pc, t)
	return n, program.Life{From: a.from, Until: a.until}
}

// Caller returns the number that a return address has at time t, and the time in which it has this
// number. Both are also valid for the call before the address, which may be in another mapping.
func (p *ProcessPCs) Caller(pc uint64, t int64) (PCNo, program.Life) {
	n, a := p.number(pc, t)
	life := program.Life{From: a.from, Until: a.until}
	if pc > a.first || pc == 0 {
		return n, life
	}
	after, before := p.area(pc, t), p.area(pc-1, t)
	edge := [2]areaNo{before, after}
	if p.edges[edge] == 0 {
		p.edges[edge] = p.newArea()
	}
	b := &p.areas[before]
	return p.intern(p.edges[edge], pc), life.Intersect(program.Life{From: b.from, Until: b.until})
}

// Fetch loads the entry of a PC into the processor's cache. Call it for all PCs of a stack before
// they are numbered: their cache misses then overlap.
func (p *ProcessPCs) Fetch(pc uint64) { p.sink += p.recent[p.recentIndex(pc)].number }

// recentIndex returns the index of a PC in recent.
func (x *PCs) recentIndex(pc uint64) uint64 { return pc * 0x9e3779b97f4a7c15 >> x.shift }

// number returns the number of a PC at time t, and its area, valid until the next call.
func (p *ProcessPCs) number(pc uint64, t int64) (PCNo, *area) {
	r := &p.recent[p.recentIndex(pc)]
	if r.pc == pc {
		if a := &p.areas[r.area]; a.has(pc, t, p.process) {
			return r.number, a
		}
	}
	area := p.area(pc, t)
	*r = pcEntry{pc, area, p.intern(area, pc)}
	return r.number, &p.areas[area]
}

// intern returns the number of a PC in an area.
func (x *PCs) intern(area areaNo, pc uint64) PCNo {
	at := x.slot(area, pc)
	for ; x.table[at].area != 0; at = (at + 1) & (len(x.table) - 1) {
		if e := &x.table[at]; e.pc == pc && e.area == area {
			return e.number
		}
	}
	n := PCNo(x.n)
	x.table[at] = pcEntry{pc, area, n}
	if x.n++; 4*x.n >= 3*len(x.table) {
		x.grow()
	}
	return n
}

// slot returns the index in table where the search for a PC begins.
func (x *PCs) slot(area areaNo, pc uint64) int {
	high, low := bits.Mul64(pc^x.seed, 0xe7037ed1a0b428db+uint64(area)<<1)
	return int(high^low) & (len(x.table) - 1)
}

// grow doubles the number of slots of table.
func (x *PCs) grow() {
	known := x.table
	x.table = chunked.MakeTable[pcEntry](2 * len(known))
	for _, e := range known {
		if e.area == 0 {
			continue
		}
		at := x.slot(e.area, e.pc)
		for x.table[at].area != 0 {
			at = (at + 1) & (len(x.table) - 1)
		}
		x.table[at] = e
	}
}

// area returns the area that contains a PC at time t, and stores the range looked up in it.
func (p *ProcessPCs) area(pc uint64, t int64) areaNo {
	if last := p.last.area; p.areas[last].has(pc, t, p.process) { // most PCs are in the program's own text
		return last
	}
	piece := p.finder.Range(pc, t)
	if p.last.area == 0 || p.last.mapping != piece.Mapping {
		n, known := p.areaOf[piece.Mapping]
		if !known {
			n = p.newArea()
			p.areaOf[piece.Mapping] = n
		}
		p.last = mappedArea{piece.Mapping, n}
	}
	p.areas[p.last.area] = area{piece.First, piece.Last, piece.From, piece.Until, p.process}
	return p.last.area
}
