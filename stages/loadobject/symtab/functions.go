package symtab

import (
	"iter"
	"slices"
	"unsafe"

	"stackmill/stages/loadobject/columns"
	"stackmill/stages/loadobject/funcinfo"
)

// Functions are the functions of a load object, sorted by offset and not overlapping. They are
// stored compactly: a compiler has 150,000, of which a recording uses a tenth.
type Functions struct {
	offsets []uint64 // in the file
	rest    []function
	texts   columns.Texts
	names   *nameIndexes // nil in the zero value
}

// function is a Function in compact form. The offset is in Functions.offsets; the strings are
// indexes into Functions.texts.
type function struct {
	address, size                                 uint64
	linkage, aliases, name, gprofngName, perfName int32
	module, line                                  int32
	kind                                          kindNo
	scope                                         funcinfo.NameScope
	indirect                                      bool
}

// kindNo is an index into kinds.
type kindNo uint8

// kinds are the kinds that a load object's functions may have.
var kinds = []funcinfo.Kind{funcinfo.Normal, funcinfo.Static, funcinfo.PLT, funcinfo.Outline, funcinfo.Clone, funcinfo.Body, funcinfo.Kernel, funcinfo.Dynamic}

// Len returns the number of functions.
func (f *Functions) Len() int { return len(f.offsets) }

// At returns the function with an index.
func (f *Functions) At(i int) Function {
	r := &f.rest[i]
	return Function{
		Offset: f.offsets[i], Address: r.address, Size: r.size,
		Linkage: f.texts.At(r.linkage), Aliases: f.texts.At(r.aliases), Name: f.texts.At(r.name),
		GprofngName: f.texts.At(r.gprofngName), PerfName: f.texts.At(r.perfName),
		Kind: kinds[r.kind], Scope: r.scope, Module: r.module, Line: r.line, Indirect: r.indirect,
	}
}

// All iterates over the functions by offset.
func (f *Functions) All() iter.Seq[Function] {
	return func(yield func(Function) bool) {
		for i := range f.offsets {
			if !yield(f.At(i)) {
				return
			}
		}
	}
}

func (f *Functions) ofModule(module int32) Functions {
	own := Functions{texts: f.texts}
	for i, r := range f.rest {
		if r.module == module {
			own.offsets, own.rest = append(own.offsets, f.offsets[i]), append(own.rest, r)
		}
	}
	own.names = newNameIndexes(own)
	return own
}

// relocate returns the functions of a module, with by added to their addresses.
func (f *Functions) relocate(module int32, by uint64) Functions {
	own := f.ofModule(module)
	for i := range own.rest {
		own.offsets[i] += by
		own.rest[i].address += by
	}
	return own
}

// countUpTo returns how many functions begin at an offset or earlier.
func (f *Functions) countUpTo(offset uint64) int {
	n, found := slices.BinarySearch(f.offsets, offset)
	if found {
		n++
	}
	return n
}

// end returns the offset at which a function ends.
func (f *Functions) end(i int) uint64 { return f.offsets[i] + f.rest[i].size }

// bytes estimates the memory that the functions take, with the indexes of their names.
func (f *Functions) bytes() int {
	const lists = 2 * 16
	return f.Len()*(8+int(unsafe.Sizeof(function{}))+lists) + f.texts.Bytes()
}

// Write writes the functions as columns.
func (f *Functions) Write(w *columns.Writer) {
	w.Count(f.Len())
	var last Function
	for g := range f.All() {
		w.Uint(g.Offset - last.Offset)
		w.Int(int64((g.Address - g.Offset) - (last.Address - last.Offset)))
		w.Uint(g.Size)
		for _, s := range []string{g.Linkage, g.Aliases, g.Name, g.GprofngName, g.PerfName, string(g.Kind)} {
			w.Text(s)
		}
		w.Uint(uint64(g.Module))
		w.Uint(uint64(g.Line))
		w.Bool(g.Indirect)
		w.Uint(uint64(g.Scope))
		last = g
	}
}

// ReadFunctions reads functions that Write wrote; modules is the number of the table's modules.
func ReadFunctions(r *columns.Reader, modules int) Functions {
	n := r.Count()
	f := Functions{offsets: columns.Slice[uint64](n), rest: columns.Slice[function](n), texts: r.AllTexts()}
	var offset, distance uint64 // distance of address from offset
	kind, kindText := kindNo(0), int32(-1)
	for i := range f.offsets {
		offset += r.Uint()
		distance += uint64(r.Int())
		g := &f.rest[i]
		f.offsets[i], g.address, g.size = offset, offset+distance, r.Uint()
		g.linkage, g.aliases, g.name, g.gprofngName, g.perfName = r.TextNumber(), r.TextNumber(), r.TextNumber(), r.TextNumber(), r.TextNumber()
		if text := r.TextNumber(); text != kindText && f.texts.Len() > 0 {
			no := slices.Index(kinds, funcinfo.Kind(f.texts.At(text)))
			if no < 0 {
				r.Fail()
				return Functions{}
			}
			kind, kindText = kindNo(no), text
		}
		g.kind = kind
		g.module, g.line, g.indirect, g.scope = r.Below(modules), r.Below(1<<31), r.Bool(), funcinfo.NameScope(r.Below(int(funcinfo.BuildScope)+1))
	}
	f.names = newNameIndexes(f)
	return f
}

// Draft is a table under construction. Finish makes it ready for lookups.
type Draft struct {
	Table
	Functions []Function // sorted by offset, not overlapping
}

var longNames = Note{Offset: -1, Text: "the function names exceed 4 GiB in total: some are missing"}

// Finish returns the table. The draft must not be used afterwards.
func (d *Draft) Finish() *Table {
	d.restrictScopes()
	w := columns.NewTextWriter()
	n := len(d.Functions)
	f := Functions{offsets: columns.Slice[uint64](n), rest: columns.Slice[function](n)}
	for i := range d.Functions {
		g := &d.Functions[i]
		f.offsets[i] = g.Offset
		f.rest[i] = function{
			address: g.Address, size: g.Size,
			linkage: w.Intern(g.Linkage), aliases: w.Intern(g.Aliases), name: w.Intern(g.Name),
			gprofngName: w.Intern(g.GprofngName), perfName: w.Intern(g.PerfName),
			module: g.Module, line: g.Line, kind: kindNo(slices.Index(kinds, g.Kind)), scope: g.Scope, indirect: g.Indirect,
		}
	}
	if w.Full {
		d.Notes = append(d.Notes, longNames)
	}
	f.texts = w.Texts()
	f.names = newNameIndexes(f)
	d.Table.Functions, d.Functions = f, nil // free the list: the table keeps the draft alive
	return &d.Table
}
