package symbolize

import (
	"cmp"
	"slices"

	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/loadobject/insn"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/program"
	"stackmill/stages/symbolize/image"
)

// PlacedObject is where a load object was in a process's memory, from Loaded until Unloaded.
type PlacedObject struct {
	Object           program.ObjectNo
	Path             string // as recorded
	Low, High        uint64 // from the start of its first segment to the end of its last one
	Bias             uint64 // added to its link-time addresses
	Loaded, Unloaded int64  // ns from the founder's start
}

// PlacedObjects returns where the load objects with known files were, sorted by Low, then by
// Loaded. Mappings of data need not be recorded: their addresses follow from those of the code.
func (pr *Process) PlacedObjects() []PlacedObject {
	var all []PlacedObject
	loaded := map[program.ObjectNo]map[uint64]bool{} // by bias
	for _, m := range pr.Image.Mappings {
		if m.Code != nil || !m.Executable() || pr.r.IsKernel(m.Address) {
			continue
		}
		n := pr.r.fileObject(pr.Image, m)
		o := &pr.r.loadObjects[n]
		if o.table == nil || o.placer != nil {
			continue
		}
		if loaded[n] == nil {
			loaded[n] = map[uint64]bool{}
			for _, x := range pr.r.plausibleLoadings(pr.r.loadingsOf(pr.Image, keyOf(m.MapEvent)), o.table) {
				loaded[n][x.bias] = true
			}
		}
		// A program that maps its own text again does not map its data again.
		if len(loaded[n]) > 0 && !loaded[n][m.Address-m.FileOffset] {
			continue
		}
		if p, ok := placeSegments(m, o.table.Segments, pr.r.pageSize()); ok {
			p.Object = n
			all = append(all, p)
		}
	}
	slices.SortStableFunc(all, func(a, b PlacedObject) int {
		return cmp.Or(cmp.Compare(a.Low, b.Low), cmp.Compare(a.Loaded, b.Loaded))
	})
	return slices.CompactFunc(all, func(a, b PlacedObject) bool {
		return a.Object == b.Object && a.Low == b.Low && a.Loaded == b.Loaded
	})
}

// placeSegments returns where all segments of a load object are, computed from a mapping of its
// code.
func placeSegments(m *image.Mapping, segments []symtab.Segment, page uint64) (p PlacedObject, ok bool) {
	p = PlacedObject{Path: m.Path, Low: ^uint64(0), Loaded: m.Loaded, Unloaded: m.Unloaded}
	for _, s := range segments {
		if start := s.Offset / page * page; s.Flags&1 != 0 && start <= m.FileOffset && m.FileOffset < s.Offset+s.FileSize {
			p.Bias, ok = m.Address-m.FileOffset-(s.Address-s.Offset), true
		}
		p.Low, p.High = min(p.Low, s.Address), max(p.High, s.Address+s.MemSize)
	}
	p.Low, p.High = p.Low+p.Bias, p.High+p.Bias
	return p, ok && p.Low < p.High
}

// Table returns the symbol table of a load object, nil if it has none.
func (r *Resolver) Table(object program.ObjectNo) *symtab.Table { return r.loadObjects[object].table }

// ObjectFile returns the file of a load object, empty if none was found.
func (r *Resolver) ObjectFile(object program.ObjectNo) string { return r.loadObjects[object].file }

// Callee returns the symbol of the function that a call in a load object enters, directly or
// through the procedure linkage table; empty if unknown.
func (r *Resolver) Callee(object program.ObjectNo, call insn.Inst) string {
	n := r.destination(object, call)
	if n < 0 {
		return ""
	}
	to := &r.graph.destinations[n]
	if to.slot.Symbol != "" {
		return to.slot.Symbol
	}
	f, _ := r.loadObjects[object].table.Function(to.offset)
	return f.Linkage
}

// LocationAt returns the location in a function at an offset of the load object's file.
func (r *Resolver) LocationAt(function program.FunctionNo, offset uint64) program.LocationNo {
	t := r.loadObjects[r.Program.Functions[function].Object].table
	return r.Program.InternLocation(function, offset, "", func() (place funcinfo.Place) {
		if t != nil {
			place, _ = t.Place(offset)
		}
		return place
	})
}

// HasDebugInfo reports whether a function belongs to a module with debug information.
func (r *Resolver) HasDebugInfo(function program.FunctionNo) bool {
	return r.Program.Modules[r.Program.Functions[function].Module].Name != unknownModule
}
