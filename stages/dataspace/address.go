package dataspace

import (
	"sort"
	"strings"

	"stackmill/internal/memo"
	"stackmill/schema"
	"stackmill/stages/decode"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/loadobject/types"
	"stackmill/stages/program"
	"stackmill/stages/symbolize"
	"stackmill/stages/symbolize/image"
)

// Region is a region of memory with data addresses: a row of memory_regions.
type Region struct {
	ID            int64
	Process       int
	Kind, Name    string
	Address, Size uint64           // bytes; 0 if unknown
	LoadObject    program.ObjectNo // or None
}

// The kinds of regions.
const (
	RegionSegment   = "segment" // of a load object or another file
	RegionStack     = "stack"
	RegionHeap      = "heap" // memory of brk
	RegionBlock     = "heap block"
	RegionAnonymous = "anonymous"
	RegionKernel    = "kernel"
	RegionUnknown   = "unknown"
)

// addressInfo describes a data address: its region, and the variable or symbol there.
type addressInfo struct {
	region RegionNo
	kind   string // of region
	// The variable of a load object, and the offset in it.
	object   *loadObject
	variable types.VariableNo
	offset   int64
	found    bool
	symbol   symbolNo // if there is no variable
}

// memory is the address space of a process, with its heap blocks and load objects' data.
type memory struct {
	space    *Space
	process  int
	kernel   func(uint64) bool
	objects  []symbolize.PlacedObject
	maxHigh  []uint64 // the greatest High of objects[:i+1]
	finder   *image.Finder
	sizes    map[extent]uint64
	stack    *image.Mapping // of the main thread, nil if not recorded
	blocks   *Blocks        // nil if allocations were not traced
	regions  map[regionKey]RegionNo
	segments map[segmentKey]addressInfo
	mappings map[*image.Mapping]addressInfo
}

// segmentKey identifies a segment of a placed load object, or the whole object.
type segmentKey struct {
	object        program.ObjectNo
	bias, address uint64
	whole         bool
}

type regionKey struct {
	kind, name    string
	address, size uint64
	object        program.ObjectNo
}

func newMemory(s *Space, p *decode.Process, resolved *symbolize.Process) *memory {
	im, sizes := newAddressSpace(p)
	m := &memory{
		space: s, process: p.Number, kernel: s.resolver.IsKernel, objects: resolved.PlacedObjects(), finder: im.Finder(), sizes: sizes,
		regions: map[regionKey]RegionNo{}, segments: map[segmentKey]addressInfo{},
		mappings: map[*image.Mapping]addressInfo{},
	}
	reach := uint64(0)
	for _, o := range m.objects {
		reach = max(reach, o.High)
		m.maxHigh = append(m.maxHigh, reach)
	}
	for _, mapping := range im.Mappings {
		if mapping.Path == stackPath {
			m.stack = mapping
		}
	}
	return m
}

// The names of the mappings of the program's stack and of brk's memory.
const (
	stackPath = "[stack]"
	heapPath  = "[heap]"

	threadStack = "[stack:" // of threads, by kernels before 4.5
)

// maxStack bounds how far the main thread's stack may have grown below its first mapping.
const maxStack = 1 << 30

// lookUp describes an address at a time.
func (m *memory) lookUp(address uint64, time int64) addressInfo {
	mapping := m.finder.At(address, time).Mapping
	if p := m.objectAt(address, time); p != nil && !m.isReplaced(p, mapping, time) {
		return m.objectRegion(p, address)
	}
	if start, size, ok := m.blocks.at(address, time); ok {
		return m.internRegion(RegionBlock, "", start, size, program.None)
	}
	if m.kernel(address) {
		return m.internRegion(RegionKernel, "", 0, 0, program.None)
	}
	switch {
	case mapping == nil && m.stack != nil && address < m.stack.Address && m.stack.Address-address < maxStack:
		mapping = m.stack
	case mapping == nil:
		return m.internRegion(RegionUnknown, "", 0, 0, program.None)
	}
	return memo.Get(m.mappings, mapping, func() addressInfo { return m.mappingRegion(mapping) })
}

// mappingRegion returns the region of a mapping that is of no load object.
func (m *memory) mappingRegion(mapping *image.Mapping) addressInfo {
	kind, name := RegionSegment, mapping.Path
	switch {
	case name == stackPath, strings.HasPrefix(name, threadStack):
		kind = RegionStack
	case name == heapPath, isAnonymous(name) && m.followsProgram(mapping):
		kind, name = RegionHeap, heapPath
	case isAnonymous(name):
		kind, name = RegionAnonymous, ""
	}
	start, size := m.extent(mapping)
	return m.internRegion(kind, name, start, size, program.None)
}

// isAnonymous reports whether the path of a mapping means that it has no file (perf-data 9).
func isAnonymous(path string) bool {
	return path == "" || decode.IsPerfMap(path) || strings.HasPrefix(path, "//anon") || strings.HasPrefix(path, "[anon") || strings.HasPrefix(path, "/dev/zero") ||
		strings.HasPrefix(path, "/anon_hugepage")
}

// maxGap bounds the distance of brk's memory from the program's end.
const maxGap = 1 << 31

// followsProgram reports whether a mapping is where brk's memory is: not far after the program,
// which is the load object with the lowest address.
func (m *memory) followsProgram(mapping *image.Mapping) bool {
	if len(m.objects) == 0 {
		return false
	}
	end := m.objects[0].High
	return mapping.Address >= end && mapping.Address-end < maxGap && (len(m.objects) == 1 || mapping.Address < m.objects[1].Low)
}

// objectAt returns the load object at an address, nil for none. Of several whose unmapping was not
// recorded, it is the one loaded last.
func (m *memory) objectAt(address uint64, time int64) *symbolize.PlacedObject {
	first := func(low uint64) int {
		return sort.Search(len(m.objects), func(i int) bool { return m.objects[i].Low >= low })
	}
	var found, early *symbolize.PlacedObject
	for i := first(address+1) - 1; i >= 0 && m.maxHigh[i] > address; i-- {
		p := &m.objects[i]
		switch {
		case address >= p.High:
		case p.Loaded > time || time >= p.Unloaded:
			early = p // collectors notice libraries late (S1)
		default:
			if found == nil || p.Loaded > found.Loaded {
				found = p
			}
			i = first(p.Low) // skip objects at the same address that were loaded before
		}
	}
	if found == nil {
		return early
	}
	return found
}

// objectRegion describes an address in a load object: its segment, and the variable or symbol.
func (m *memory) objectRegion(p *symbolize.PlacedObject, address uint64) addressInfo {
	o := m.space.loadObject(p.Object)
	link := address - p.Bias
	var segment *symtab.Segment
	for i := range o.symbols.Segments {
		if s := &o.symbols.Segments[i]; link-s.Address < s.MemSize {
			segment = s
		}
	}
	w := m.segment(p, segment)
	if w.object = o; o.types.Table != nil {
		w.variable, w.offset, w.found = o.types.Global(link)
	}
	if !w.found {
		w.symbol = o.symbolAt(link)
	}
	return w
}

// segment returns the region of a segment of a load object, or of the whole object for nil.
func (m *memory) segment(p *symbolize.PlacedObject, s *symtab.Segment) addressInfo {
	k := segmentKey{object: p.Object, bias: p.Bias, whole: s == nil}
	if s != nil {
		k.address = s.Address
	}
	return memo.Get(m.segments, k, func() addressInfo {
		name := m.space.resolver.Program.Objects[p.Object].Name
		if s == nil {
			return m.internRegion(RegionSegment, name, p.Low, p.High-p.Low, p.Object)
		}
		return m.internRegion(RegionSegment, name+" "+permissions(s.Flags), s.Address+p.Bias, s.MemSize, p.Object)
	})
}

// permissions writes a segment's flags as /proc/PID/maps does.
func permissions(flags uint32) string {
	b := []byte("---")
	for i, bit := range []uint32{4, 2, 1} {
		if flags&bit != 0 {
			b[i] = "rwx"[i]
		}
	}
	return string(b)
}

func (m *memory) internRegion(kind, name string, address, size uint64, object program.ObjectNo) addressInfo {
	k := regionKey{kind, name, address, size, object}
	n, ok := m.regions[k]
	if !ok {
		n = RegionNo(len(m.space.Regions))
		id := schema.NewID("memory region").Number(uint64(m.process)).Text(kind).Text(name).Number(address).Number(size)
		if object != program.None { // another one of the same name may be loaded there later
			id.Number(uint64(m.space.resolver.Program.Objects[object].ID))
		}
		m.space.Regions = append(m.space.Regions, Region{
			ID: id.Sum(), Process: m.process, Kind: kind, Name: name, Address: address, Size: size, LoadObject: object,
		})
		m.regions[k] = n
	}
	return addressInfo{region: n, kind: kind, variable: types.None, symbol: program.None}
}
