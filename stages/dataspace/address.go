package dataspace

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"stackmill/internal/memo"
	"stackmill/schema"
	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/loadobject/types"
	"stackmill/stages/program"
	"stackmill/stages/symbolize"
	"stackmill/stages/symbolize/image"
)

// Region is a region of memory in which data addresses lie: a row of memory_regions.
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

// addressInfo describes a data address: its region, and the variable or symbol at it.
type addressInfo struct {
	region RegionNo
	kind   string // the region's kind
	// If a load object has a variable at the address: the variable, and the offset in it.
	object   *loadObject
	variable types.VariableNo
	offset   int64
	found    bool
	symbol   symbolNo // the symbol at the address, if there is no variable
}

// memory is the address space of a process, with its heap blocks and the data of its load objects.
type memory struct {
	space    *Space
	process  int
	kernel   func(uint64) bool
	objects  []symbolize.PlacedObject
	maxHigh  []uint64 // the greatest High of objects[:i+1]
	finder   *image.Finder
	sizes    map[extent]uint64
	stack    *image.Mapping // the main thread's stack, nil if not recorded
	blocks   *Blocks        // nil if allocations were not traced
	regions  map[regionKey]RegionNo
	segments map[segmentKey]addressInfo
	mappings map[*image.Mapping]addressInfo
}

// segmentKey identifies a segment of a load object that is mapped with some bias, or the whole
// object.
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

// The names of mappings of the main thread's stack, and of the heap that brk grows.
const (
	stackPath = "[stack]"
	heapPath  = "[heap]"

	threadStack = "[stack:" // a thread's stack, in kernels before 4.5
)

// maxStack bounds how far the main thread's stack may have grown below its first mapping.
const maxStack = 1 << 30

// lookUp describes what is at an address at a time.
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

// mappingRegion returns the region of a mapping that is not part of a load object.
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

// maxGap bounds the distance between the program's end and the heap that brk grows.
const maxGap = 1 << 31

// followsProgram reports whether a mapping may be the heap that brk grows: it must begin shortly
// after the program, which is the load object with the lowest address.
func (m *memory) followsProgram(mapping *image.Mapping) bool {
	if len(m.objects) == 0 {
		return false
	}
	end := m.objects[0].High
	return mapping.Address >= end && mapping.Address-end < maxGap && (len(m.objects) == 1 || mapping.Address < m.objects[1].Low)
}

// objectAt returns the load object at an address, nil for none. If there are several, because their
// unmapping was not recorded, it returns the one loaded last.
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

// segment returns the region of a segment of a load object, or of the whole object if s is nil.
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

// permissions formats a segment's flags as in /proc/PID/maps (for example "r-x").
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

// extent identifies an anonymous mapping that grows at its end, such as a heap or a thread's arena.
// Each growth is recorded as a new, larger mapping.
type extent struct {
	start uint64
	path  string
}

// newAddressSpace returns the image of a process's code and data, and the largest size of each
// extent. Recorded mappings of a growing extent overlap. So each growth becomes a mapping of only
// the added range, with its distance from the extent's start as FileOffset.
func newAddressSpace(p *decode.Process) (*image.Image, map[extent]uint64) {
	events := slices.Concat(p.Mappings, p.DataMappings)
	slices.SortStableFunc(events, func(a, b decode.MapEvent) int { return cmp.Compare(a.Time, b.Time) })
	g := liveMappings{added: map[uint64][]uint64{}}
	sizes := map[extent]uint64{}
	var out []decode.MapEvent
	for _, e := range events {
		if e.Unmap {
			for _, at := range g.added[e.Address] {
				out = append(out, decode.MapEvent{Unmap: true, Time: e.Time, Address: at})
			}
			g.remove(e.Address)
		} else {
			if isAnonymousData(&e) {
				k := extent{e.Address, e.Path}
				sizes[k] = max(sizes[k], e.Size)
				e.FileOffset = 0
			}
			e = g.add(e)
		}
		out = append(out, e)
	}
	return image.New(out, "", &diagnostic.Log{}), sizes // the process's own image has reported problems of the events
}

// liveMappings holds the anonymous mappings that no later mapping has replaced.
type liveMappings struct {
	live  []decode.MapEvent   // sorted by address, not overlapping
	added map[uint64][]uint64 // start of a mapping -> starts of the ranges by which it was enlarged
}

// add adds a mapping. If it enlarges an existing mapping, add returns only the added range, else
// the whole mapping.
func (g *liveMappings) add(e decode.MapEvent) decode.MapEvent {
	if e.Address+e.Size < e.Address {
		return e
	}
	from := sort.Search(len(g.live), func(i int) bool { return g.live[i].Address+g.live[i].Size > e.Address })
	to := from + sort.Search(len(g.live)-from, func(i int) bool { return g.live[from+i].Address >= e.Address+e.Size })
	added := e
	var keep []uint64
	if from < to && isAnonymousData(&e) {
		if old := &g.live[from]; old.Address == e.Address && e.Size > old.Size && e.Path == old.Path && e.Modes == old.Modes {
			added.FileOffset, added.Address, added.Size = old.Size, old.Address+old.Size, e.Size-old.Size
			keep = append(g.added[e.Address], added.Address)
		}
	}
	for _, old := range g.live[from:to] {
		delete(g.added, old.Address)
	}
	if keep != nil {
		g.added[e.Address] = keep
	}
	if isAnonymousData(&e) {
		g.live = slices.Replace(g.live, from, to, e)
	} else {
		g.live = slices.Delete(g.live, from, to)
	}
	return added
}

// remove removes the mapping that begins at an address.
func (g *liveMappings) remove(address uint64) {
	i := sort.Search(len(g.live), func(i int) bool { return g.live[i].Address >= address })
	if i < len(g.live) && g.live[i].Address == address {
		g.live = slices.Delete(g.live, i, i+1)
	}
	delete(g.added, address)
}

// isAnonymousData reports whether a mapping is data without a file. Its FileOffset then has no
// meaning.
func isAnonymousData(e *decode.MapEvent) bool {
	return e.Modes&4 == 0 && e.Code == nil && (isAnonymous(e.Path) || e.Path == heapPath || e.Path == stackPath)
}

// extent returns the start and size of the extent (see type extent) to which a mapping belongs.
func (m *memory) extent(mapping *image.Mapping) (start, size uint64) {
	if !isAnonymousData(mapping.MapEvent) {
		return mapping.Address, mapping.Size
	}
	start = mapping.Address - mapping.FileOffset
	return start, m.sizes[extent{start, mapping.Path}]
}

// isReplaced reports whether a mapping replaced load object p. perf does not record that p was
// unmapped before.
func (m *memory) isReplaced(p *symbolize.PlacedObject, mapping *image.Mapping, time int64) bool {
	switch {
	case mapping == nil || mapping.Loaded <= p.Loaded || mapping.Loaded > time || mapping.Path == p.Path:
		return false
	case !isAnonymous(mapping.Path) && mapping.Path != heapPath && mapping.Path != stackPath:
		return true
	case mapping.Modes&2 == 0 || mapping.Executable(): // memory of the object itself: a protected part, or code moved to larger pages
		return false
	}
	start, _ := m.extent(mapping)
	return !slices.ContainsFunc(m.space.loadObject(p.Object).symbols.Segments, func(s symtab.Segment) bool {
		zeros := s.Address + s.FileSize + p.Bias // .bss: mapped after the file's contents
		return s.FileSize < s.MemSize && (start == zeros/pageSize*pageSize || start == (zeros+pageSize-1)/pageSize*pageSize)
	})
}
