package inlines

import (
	"cmp"
	"math"
	"slices"

	"stackmill/stages/loadobject/dwarf"
	"stackmill/stages/loadobject/symtab"
)

// unnamed is the name of inlined functions that have none, or have it in another file.
const unnamed = "(unknown)"

// The numbers of origins and of their names: indexes into lists of names. Calls have the
// origin's number in place of a name until Finish.
type (
	originNo int32
	nameNo   int32 // 0 is unnamed
)

// names are those of inlined functions.
type names struct {
	origins []nameNo         // by number of the origin
	starts  []int32          // of their declarations, 0 if unknown
	lines   map[int]originNo // that have the lines of the table's functions
	symbols map[originNo]int // indexes into the table's functions
	list    []functionName   // the first is unnamed
	index   map[functionName]nameNo
	pending []origin // in other units than their references
}

func newNames() names {
	return names{list: []functionName{{text: unnamed}}, index: map[functionName]nameNo{}, symbols: map[originNo]int{}, lines: map[int]originNo{}}
}

type functionName struct {
	text    string
	linkage bool
}

// origin is the entry of a function.
type origin struct {
	offset uint64 // in .debug_info
	number originNo
}

// origin returns the number of the function that an inlined subroutine of a
// unit refers to.
func (r *Reader) origin(s *dwarf.Sections, u *dwarf.Unit, ref dwarf.Value) originNo {
	off, ok := dwarf.Reference(u, ref)
	if !ok {
		off = 0 // the start of a unit, not an entry
	}
	k := knownOf(s)
	if n, ok := k.functions[off]; ok {
		return n
	}
	o := origin{off, originNo(len(r.names.origins))}
	r.names.origins, r.names.starts = append(r.names.origins, 0), append(r.names.starts, 0)
	k.functions[off] = o.number
	if f, known := k.symbols[off]; known {
		r.names.symbols[o.number] = f
	}
	if ok {
		r.resolve(s, u, o)
	}
	return o.number
}

// own notes that a function has code that is not inlined. Its symbol there names the
// inlined code of its entry as well, so that both are one function. All parts of the code
// have the line of the declaration.
func (r *Reader) own(s *dwarf.Sections, u *dwarf.Unit, of subprogram, code []dwarf.Span) {
	entry, copied := dwarf.Reference(u, of.origin)
	for _, x := range code {
		off, ok := r.addresses.Offset(x.Low)
		if !ok {
			continue
		}
		i, found := slices.BinarySearchFunc(r.table.Functions, off, func(f symtab.Function, off uint64) int { return cmp.Compare(f.Offset, off) })
		if !found {
			continue
		}
		r.start(s, u, i, of)
		if !copied || r.table.Functions[i].Kind != symtab.Normal { // clones have the same origin
			continue
		}
		copied = false
		k := knownOf(s)
		k.symbols[entry] = i
		if n, known := k.functions[entry]; known {
			r.names.symbols[n] = i
		}
	}
}

// start notes where a function is declared, or which entry has that.
func (r *Reader) start(s *dwarf.Sections, u *dwarf.Unit, function int, of subprogram) {
	if of.line > 0 && of.line <= math.MaxInt32 {
		r.table.Functions[function].Line = int32(of.line)
		return
	}
	for _, ref := range []dwarf.Value{of.origin, of.specification} {
		if _, ok := dwarf.Reference(u, ref); ok {
			r.names.lines[function] = r.origin(s, u, ref)
			return
		}
	}
}

// resolve finds a function's name: its own, or that of the declaration or function that
// it is made from. Entries in other units must wait: reading them would replace the
// abbreviations in use.
func (r *Reader) resolve(s *dwarf.Sections, u *dwarf.Unit, o origin) {
	for range dwarf.MaxHops {
		if o.offset-u.Offset >= u.Size {
			r.names.pending = append(r.names.pending, o)
			return
		}
		name, line, next := nameAt(s, u, o.offset)
		if name.text != "" && !r.names.list[r.names.origins[o.number]].linkage {
			r.names.origins[o.number] = r.name(name)
		}
		start := &r.names.starts[o.number]
		if *start == 0 {
			*start = line
		}
		if name.linkage && *start != 0 || next == 0 {
			return
		}
		o.offset = next
	}
}

// nameAt returns the name and the line of the declaration that an entry of the unit has,
// and the entry that it completes; 0 for none.
func nameAt(s *dwarf.Sections, u *dwarf.Unit, off uint64) (name functionName, line int32, next uint64) {
	c, abbrev := s.Entry(u, off-u.Offset)
	if abbrev == nil || s.NameBytes <= 0 {
		return name, 0, 0
	}
	before := len(c.Rest)
	text := func(v dwarf.Value) string {
		t := s.TextOf(u, v)
		s.NameBytes -= len(t) + 1
		return string(t[:min(len(t), dwarf.MaxPath)])
	}
	err := u.Format.Attributes(&c, abbrev, func(attr uint32, v dwarf.Value) {
		switch attr {
		case dwarf.AttrLinkageName, dwarf.AttrMIPSLinkageName:
			name = functionName{text(v), true}
		case dwarf.AttrName:
			if !name.linkage {
				name.text = text(v)
			}
		case dwarf.AttrDeclLine:
			if v.Uint <= math.MaxInt32 {
				line = int32(v.Uint)
			}
		case dwarf.AttrSpecification, dwarf.AttrOrigin:
			next, _ = dwarf.Reference(u, v)
		}
	})
	if s.NameBytes -= before - len(c.Rest); err != nil || c.Short {
		return functionName{}, 0, 0
	}
	name.linkage = name.linkage && name.text != ""
	return name, line, next
}

// name returns the number of a name.
func (r *Reader) name(f functionName) nameNo {
	n, ok := r.names.index[f]
	if !ok {
		if !r.info.Room(len(f.text)) {
			return 0
		}
		n = nameNo(len(r.names.list))
		r.names.list = append(r.names.list, f)
		r.names.index[f] = n
	}
	return n
}

// elsewhere resolves the names in other units, each hop in one pass over all units.
func (r *Reader) elsewhere() {
	for range dwarf.MaxHops {
		waiting := r.names.pending
		if len(waiting) == 0 {
			return
		}
		r.names.pending = nil
		slices.SortFunc(waiting, func(x, y origin) int { return cmp.Compare(x.offset, y.offset) })
		r.info.Sections.Units(func(u *dwarf.Unit) {
			for ; len(waiting) > 0 && waiting[0].offset < u.Offset+u.Size; waiting = waiting[1:] {
				if waiting[0].offset >= u.Offset {
					r.resolve(r.info.Sections, u, waiting[0])
				}
			}
		}, func(uint64, error) {})
	}
}

// Finish gives the table the names that its inlined calls use.
func (r *Reader) Finish() {
	r.elsewhere()
	in := &r.table.Inlines
	readable := symtab.NewNames()
	numbers := map[originNo]int32{}
	texts := map[string]int32{}
	for i := range in.Calls {
		origin := originNo(in.Calls[i].Name)
		n, ok := numbers[origin]
		if !ok {
			text := r.nameOf(origin, readable.Readable)
			if n, ok = texts[text]; !ok {
				n = int32(len(in.Names))
				in.Names = append(in.Names, text)
				texts[text] = n
			}
			numbers[origin] = n
		}
		in.Calls[i].Name, in.Calls[i].Start = n, r.names.starts[origin]
	}
	for f, origin := range r.names.lines {
		r.table.Functions[f].Line = r.names.starts[origin]
	}
	for _, n := range readable.Notes() {
		r.info.Note(n)
	}
}

// nameOf returns the readable name of an origin.
func (r *Reader) nameOf(origin originNo, readable func(string) string) string {
	if f, ok := r.names.symbols[origin]; ok {
		return r.table.Functions[f].Name
	}
	name := r.names.list[r.names.origins[origin]]
	if name.linkage {
		name.text = readable(name.text)
	}
	return dwarf.Valid(name.text)
}
