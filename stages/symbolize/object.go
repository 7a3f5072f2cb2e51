package symbolize

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"stackmill/problem"
	"stackmill/schema"
	"stackmill/stages/decode"
	"stackmill/stages/symbolize/image"
	"stackmill/stages/symbolize/symtab"
)

// notComputed is the checksum that Linux collectors write for text.
const notComputed = 0xFFFFFFFF

// fileObject returns the load object of a file mapping. Processes share the
// object of a path and checksum.
func (r *Resolver) fileObject(im *image.Image, m *image.Mapping) int32 {
	checksum := m.Checksum
	if checksum == notComputed {
		checksum = 0
	}
	k := objectKey{m.Path, checksum, m.BuildID}
	n, ok := r.objects[k]
	if !ok {
		o := r.findObject(im, m, checksum)
		id, same, found := r.sameFile(&o)
		if n = same; !found {
			n = r.Program.object(o)
			r.files[id] = n
		}
		r.objects[k] = n
	}
	return n
}

// findObject takes the first file that can be read and that fits the recorded
// mappings and checksum. On Linux no checksum is recorded, so that a rebuilt
// program would otherwise give wrong names without a word.
func (r *Resolver) findObject(im *image.Image, m *image.Mapping, checksum uint32) Object {
	file, buildID := m.Path, m.BuildID
	kernel := file == decode.KernelPath || r.IsKernel(m.Address)
	o := Object{Name: path.Base(file), Path: file, Checksum: checksum, Kind: "elf", Symbols: "none"}
	type refusal struct{ reason, message string }
	var refused []refusal
	candidates := r.candidates(file, buildID)
	if file == decode.KernelPath {
		r.kernelID = buildID
	} else if kernel {
		if list, origin := r.moduleList(file); list != nil {
			o.table, o.Symbols, o.place, o.FunctionCount = list, origin, absolute, len(list.Functions)
			candidates = nil
		}
	}
	for _, c := range candidates {
		table, err := r.tables.Load(c.Path)
		if err != nil {
			refused = append(refused, refusal{"unreadable-load-object", fmt.Sprintf("the copy in the %s cannot be used: %v", c.Origin, err)})
			continue
		}
		// Lists of symbols have no build-id but that of their place.
		if buildID != "" && table.BuildID != buildID && (table.BuildID != "" || c.Origin == "cache" && len(table.Regions) > 0) {
			refused = append(refused, refusal{"wrong-build-id", fmt.Sprintf("the copy in the %s is another program: it has build-id %s, recorded was %s", c.Origin, table.BuildID, buildID)})
			continue
		}
		if kernel && len(table.Functions) == 0 {
			refused = append(refused, refusal{"kernel-symbols", fmt.Sprintf("the copy in the %s has no addresses: only root may read them in /proc/kallsyms", c.Origin)})
			continue
		}
		same := kernel || buildID != "" && table.BuildID == buildID
		if why := misfit(table, im, file, checksum, r.pageSize()); why != "" && !same {
			refused = append(refused, refusal{"wrong-load-object", fmt.Sprintf("the copy in the %s is another program: %s", c.Origin, why)})
			continue
		}
		o.table, o.file, o.Symbols, o.BuildID = table, c.Path, c.Origin, table.BuildID
		o.FunctionCount = len(table.Functions)
		if kernel {
			o.place = r.kernelPlacing(table)
		}
		break
	}
	if o.BuildID == "" {
		o.BuildID = buildID
	}
	if o.BuildID != "" {
		o.ID = schema.NewID("object").Text(o.BuildID).Sum()
	} else {
		o.ID = schema.NewID("object").Number(uint64(o.Checksum)).Text(o.Path).Sum()
	}
	o.complain = func(touched bool) {
		severity := problem.Info
		switch generated := decode.IsPerfMap(file); {
		case touched && o.table == nil && file == decode.KernelPath:
			severity, refused = problem.Warning, append(refused, refusal{"kernel-symbols", "the kernel's functions have no names: pass a copy of /proc/kallsyms from the machine and time of recording with --kallsyms, or the kernel's image with --vmlinux"})
		case touched && o.table == nil && generated:
			severity, refused = problem.Warning, []refusal{{"generated-code", "code was made at run time, and no list of its functions was found: have the program write " + path.Base(file) + ", and tell where it is with --perf-map-dir"}}
		case touched && o.table == nil: // the samples are there, but not the names
			severity = problem.Warning
		case generated:
			return
		}
		if o.table == nil && len(refused) == 0 {
			refused = append(refused, refusal{"missing-load-object", "no copy of the load object was found: its functions have no names"})
		}
		for _, f := range refused {
			r.problem(severity, file, f.reason, f.message)
		}
		if o.table != nil && touched {
			for _, n := range o.table.Notes {
				r.rec.Problems.Add(n.Problem(file))
			}
		}
	}
	return o
}

// candidates are the files at the object's path, then those that have its
// build-id; of the kernel also the one that runs.
func (r *Resolver) candidates(file, buildID string) []decode.Candidate {
	list := r.rec.Locate(file)
	if (buildID != "" || file == decode.KernelPath) && r.rec.Stored != nil {
		list = append(slices.Clip(list), r.rec.Stored(file, buildID)...)
	}
	return list
}

func (r *Resolver) pageSize() uint64 {
	if r.rec.PageSize > 0 {
		return uint64(r.rec.PageSize)
	}
	return 4096
}

// misfit says why the file cannot be what was mapped, or nothing. A recorded
// checksum must be the file's (gprofng-experiment 1.5). A single executable
// segment must be mapped as a whole; pieces of several need only lie in one.
func misfit(t *symtab.Table, im *image.Image, path string, checksum uint32, page uint64) string {
	if checksum != 0 && t.Checksum != checksum {
		return fmt.Sprintf("it has checksum %#x, recorded was %#x: perhaps it was rebuilt", t.Checksum, checksum)
	}
	if len(t.Segments) == 0 { // the kernel's symbols
		return ""
	}
	var text []symtab.Segment
	for _, s := range t.Segments {
		if s.Flags&1 != 0 {
			text = append(text, s)
		}
	}
	type piece struct{ offset, size uint64 }
	var pieces []piece
	for _, m := range im.Mappings {
		p := piece{m.FileOffset, m.Size}
		if m.Path == path && m.Code == nil && m.Modes&4 != 0 && !slices.Contains(pieces, p) {
			pieces = append(pieces, p)
		}
	}
	for _, p := range pieces {
		start, end := p.offset, p.offset+p.size
		fits := false
		for _, s := range text {
			from, until := s.Offset/page*page, (s.Offset+s.FileSize+page-1)/page*page
			if aligned := start%page == 0 && end%page == 0; aligned && len(text) == 1 && len(pieces) == 1 {
				fits = start == from && end == until
			} else {
				fits = fits || from <= start && end <= until
			}
		}
		if !fits {
			return fmt.Sprintf("no executable segment of it fits the mapping of %#x bytes at file offset %#x", p.size, start)
		}
	}
	return ""
}

func (o *Object) touch() { o.touched = true }

// static names the text of an object without symbols: one region per mapping (S6).
func (r *Resolver) static(object int32, m *image.Mapping, offset uint64) int32 {
	p := r.Program
	f := Function{
		Object: object, Module: p.module(object, unknownModule, ""), Kind: symtab.Static,
		Name: fmt.Sprintf("<static>@%#x", m.FileOffset), Address: m.FileOffset, Offset: m.FileOffset, Size: m.Size,
	}
	return p.location(p.function(r.inKernel(f, m), 0), offset, "", nil)
}

// named finds the function of a symbol as code of a module means it: the
// module's own, or the only one of that name unless that must be another
// module's static function. An outline function is none that others are made
// from.
func (o *Object) named(linkage, module string) (symtab.Function, bool) {
	candidates := o.functionsNamed(linkage)
	// Units share C++ functions that are not static: the linker keeps one.
	shared := strings.HasPrefix(linkage, "_Z") && !strings.HasPrefix(linkage, "_ZL")
	for _, i := range candidates {
		c := o.table.Functions[i]
		own := module != unknownModule && o.table.Modules[c.Module].Name == module
		only := len(candidates) == 1 && (module == unknownModule || c.Module == 0 || shared)
		if c.Kind != symtab.Outline && (own || only) {
			return c, true
		}
	}
	return symtab.Function{}, false
}

// functionsNamed returns the numbers of the table's functions that have a symbol.
func (o *Object) functionsNamed(linkage string) []int {
	if o.byLinkage == nil {
		o.byLinkage = map[string][]int{}
		for i := range o.table.Functions {
			for _, alias := range symtab.Split(o.table.Functions[i].Aliases) {
				o.byLinkage[alias] = append(o.byLinkage[alias], i)
			}
		}
	}
	return o.byLinkage[linkage]
}

// mainName takes the mark of an outline function off its linkage name: gcc's
// `f.cold` and `f.unlikely`, clang's `f.cold.1`, Studio's `_$o1A12.f`.
func mainName(linkage string) string {
	if strings.HasPrefix(linkage, "_$o") {
		_, name, _ := strings.Cut(linkage, ".")
		return name
	}
	for _, mark := range []string{".cold", ".unlikely"} {
		if i := strings.LastIndex(linkage, mark); i > 0 {
			return linkage[:i]
		}
	}
	return linkage
}
