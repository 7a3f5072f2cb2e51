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

// extent is an anonymous mapping with all that was added to its end: each step of
// the growth of a heap or a thread's arena is recorded as a larger mapping.
type extent struct {
	start uint64
	path  string
}

// newAddressSpace is a process's mappings of code and data. Each step of a growth
// has only what it added, and in FileOffset its distance from the start: otherwise the
// many mappings would all cover each other. It also returns the largest sizes.
func newAddressSpace(p *decode.Process) (*image.Image, map[extent]uint64) {
	events := slices.Concat(p.Image, p.Data)
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
	return image.New(out, "", &diagnostic.Log{}), sizes // problems of the events were reported when they were replayed first
}

// liveMappings is the mappings of no file that nothing has come over since.
type liveMappings struct {
	live  []decode.MapEvent   // sorted by address, apart from each other
	added map[uint64][]uint64 // where one was added to, by its start
}

// add takes a mapping. It returns what that adds to one that is there.
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

// remove ends the mapping that begins at an address.
func (g *liveMappings) remove(address uint64) {
	i := sort.Search(len(g.live), func(i int) bool { return g.live[i].Address >= address })
	if i < len(g.live) && g.live[i].Address == address {
		g.live = slices.Delete(g.live, i, i+1)
	}
	delete(g.added, address)
}

// isAnonymousData reports whether a mapping is data of no file, which FileOffset means
// nothing of.
func isAnonymousData(e *decode.MapEvent) bool {
	return e.Modes&4 == 0 && e.Code == nil && (isAnonymous(e.Path) || e.Path == heapPath || e.Path == stackPath)
}

// extent returns all of the memory that a mapping is a part of.
func (m *memory) extent(mapping *image.Mapping) (start, size uint64) {
	if !isAnonymousData(mapping.MapEvent) {
		return mapping.Address, mapping.Size
	}
	start = mapping.Address - mapping.FileOffset
	return start, m.sizes[extent{start, mapping.Path}]
}

// isReplaced reports whether a mapping is of something else that came where a load
// object was: that one was closed, which perf does not record.
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
