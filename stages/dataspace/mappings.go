package dataspace

import (
	"cmp"
	"slices"
	"sort"

	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/symbolize"
	"stackmill/stages/symbolize/image"
)

// extent identifies an anonymous mapping that grows at its end, such as a heap or a thread's arena:
// each step of the growth is recorded as a larger mapping.
type extent struct {
	start uint64
	path  string
}

// newAddressSpace returns the image of a process's code and data, and the largest size of each
// extent. A step of a growth becomes a mapping of only the added range, whose FileOffset is the
// distance from the start: otherwise the many mappings would all overlap.
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
	added map[uint64][]uint64 // by start: the addresses of the added ranges
}

// add adds a mapping. It returns the added range if the mapping extends an existing one, else the
// mapping.
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

// isAnonymousData reports whether a mapping is data without a file, whose FileOffset has no
// meaning.
func isAnonymousData(e *decode.MapEvent) bool {
	return e.Modes&4 == 0 && e.Code == nil && (isAnonymous(e.Path) || e.Path == heapPath || e.Path == stackPath)
}

// extent returns the bounds of the extent that contains a mapping.
func (m *memory) extent(mapping *image.Mapping) (start, size uint64) {
	if !isAnonymousData(mapping.MapEvent) {
		return mapping.Address, mapping.Size
	}
	start = mapping.Address - mapping.FileOffset
	return start, m.sizes[extent{start, mapping.Path}]
}

// isReplaced reports whether a mapping replaced a load object, which was closed: perf does not
// record that.
func (m *memory) isReplaced(p *symbolize.PlacedObject, mapping *image.Mapping, time int64) bool {
	switch {
	case mapping == nil || mapping.Loaded <= p.Loaded || mapping.Loaded > time || mapping.Path == p.Path:
		return false
	case !isAnonymous(mapping.Path) && mapping.Path != heapPath && mapping.Path != stackPath:
		return true
	case mapping.Modes&2 == 0 || mapping.Executable(): // a part that was protected, or code that was moved to larger pages
		return false
	}
	start, _ := m.extent(mapping)
	return !slices.ContainsFunc(m.space.loadObject(p.Object).symbols.Segments, func(s symtab.Segment) bool {
		zeros := s.Address + s.FileSize + p.Bias // memory beyond the file's contents is mapped after them
		return s.FileSize < s.MemSize && (start == zeros/pageSize*pageSize || start == (zeros+pageSize-1)/pageSize*pageSize)
	})
}
