package acceptance

import (
	debugelf "debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stackmill/stages/decode/gprofng/archive"
	"stackmill/stages/loadobject/elf"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/loadobject/insn"
	"stackmill/stages/loadobject/insn/disasm"
	"stackmill/stages/loadobject/symtab"
)

// No caller is wrong (S26). If the instruction of a frame calls a function directly, or through the
// procedure linkage table, the frame above must be in that function, or in one that it may have
// reached by a tail call. The program contradicts a caller if the called function, and everything
// that it jumps to, provably never jumps to the callee.
func TestEdges(t *testing.T) {
	count := map[string]int{}
	programs := map[string]*archived{}
	query(t, shared.DB, func(r row) error {
		var experiment, path string
		var offset uint64
		var g callee
		if err := r.Scan(&experiment, &path, &offset, &g.path, &g.name, &g.aliases, &g.offset); err != nil {
			return err
		}
		p := programs[experiment]
		if p == nil {
			p = openArchived(t, experiment)
			programs[experiment] = p
		}
		verdict := p.judge(path, offset, g)
		count[verdict]++
		if call := fmt.Sprintf("%s %#x", experiment, offset); verdict == "contradicted" && !misrecorded[call] {
			t.Errorf("%s: the call at %#x of %s is no way to %s of %s", experiment, offset, path, g.name, g.path)
		}
		return nil
	}, `WITH machine AS MATERIALIZED (SELECT DISTINCT experiment_id, stack_id FROM mode_stacks WHERE mode = 'machine'),
		steps AS MATERIALIZED (SELECT DISTINCT c.experiment_id, c.location_id, g.function_id
			FROM machine m JOIN frames c USING (experiment_id, stack_id)
			JOIN frames g ON g.experiment_id = c.experiment_id AND g.stack_id = c.stack_id AND g.position = c.position - 1
			WHERE c.rule <> 'S12' AND g.rule NOT IN ('S12', 'S23')),
		callers AS MATERIALIZED (SELECT s.experiment_id, s.function_id, l.load_object_id, l."offset"
			FROM steps s JOIN locations_wide l USING (experiment_id, location_id)),
		named AS MATERIALIZED (SELECT c.experiment_id, c.function_id, c."offset", o.path FROM callers c JOIN load_objects o USING (experiment_id, load_object_id) WHERE o.kind = 'elf')
		SELECT experiment, n.path, n."offset", o.path, f.name, f.aliases, f."offset"
		FROM named n JOIN functions_wide f USING (experiment_id, function_id) JOIN load_objects o USING (experiment_id, load_object_id)
		JOIN experiments USING (experiment_id) ORDER BY ALL`)
	t.Log(count)
	if count["called"] < 300 || count["left for"] < 50 {
		t.Errorf("too few edges are confirmed: %v", count)
	}
}

// misrecorded are calls above which the collector recorded a wrong frame. Here, a sample
// interrupted the collector's own unwinder, and the frame above is left from an earlier call.
var misrecorded = map[string]bool{"all.er 0x6c67c": true}

// judge itself is right: A may reach D by calling B if there are tail calls, and not without them.
func TestJudgesEdges(t *testing.T) {
	for recording, want := range map[string][3]string{
		"tail":   {"called", "left for", "contradicted"},
		"notail": {"called", "contradicted", "contradicted"},
	} {
		p := openArchived(t, experiment(recording))
		all := len(p.objects)
		for path, c := range p.objects {
			named := func(name string) symtab.Function {
				if found := c.table.Functions.BySymbol(name); len(found) > 0 {
					return c.table.Functions.At(found[0])
				}
				return symtab.Function{}
			}
			a := named("A")
			if a.Linkage != "A" {
				continue
			}
			for i := range disasm.Walk(c.table.Arch, c.file.Slice(a.Offset, a.Size), a.Address) {
				if i.Inst.Kind != insn.Call {
					continue
				}
				offset, _ := c.addresses.Offset(i.Addr)
				var got [3]string
				for i, name := range []string{"B", "D", "main"} {
					got[i] = p.judge(path, offset, callee{path: path, offset: named(name).Offset})
				}
				if got != want {
					t.Errorf("%s: the call at %#x gets to B, D and main: %q, want %q", recording, offset, got, want)
				}
				delete(p.objects, path)
				break
			}
		}
		if len(p.objects) != all-1 {
			t.Errorf("%s: no call in A", recording)
		}
	}
}

// callee is the function of the frame above a call.
type callee struct {
	path, name, aliases string
	offset              uint64
}

func (g callee) is(path string, f symtab.Function) bool {
	return g.path == path && g.offset == f.Offset
}

// archived has the machine code of a recording's load objects.
type archived struct {
	objects map[string]*code // by recorded path
}

type code struct {
	path      string
	file      *elf.File
	table     *symtab.Table
	addresses symtab.Addresses
	choosers  map[string]bool // symbols of functions that choose an implementation
}

// openArchived reads the archived load objects of an experiment.
func openArchived(t *testing.T, experiment string) *archived {
	p := &archived{objects: map[string]*code{}}
	query(t, shared.DB, func(r row) error {
		var path string
		err := r.Scan(&path)
		name := filepath.Join(recordings, "exp", experiment, archive.Dir, archive.Name(path))
		if c := openCode(t, name); c != nil {
			c.path, p.objects[path] = path, c
		}
		return err
	}, `SELECT load_objects.path FROM load_objects JOIN experiments USING (experiment_id) WHERE experiment = ? AND load_objects.kind = 'elf'`, experiment)
	return p
}

// openCode returns the code of a load object, nil if the file is missing.
func openCode(t *testing.T, name string) *code {
	t.Helper()
	f, err := elf.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	c := &code{file: f, table: symtab.Read(f, nil).Finish(), choosers: map[string]bool{}}
	c.addresses = c.table.Addresses()
	e, err := debugelf.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	symbols, _ := e.DynamicSymbols()
	more, _ := e.Symbols()
	for _, s := range append(symbols, more...) {
		if debugelf.ST_TYPE(s.Info) == debugelf.STT_GNU_IFUNC {
			c.choosers[s.Name] = true
		}
	}
	return c
}

// judge returns what the instruction at an offset proves about the call of g. It proves nothing
// unless it is a direct call.
func (p *archived) judge(path string, offset uint64, g callee) string {
	c := p.objects[path]
	if c == nil {
		return "no code"
	}
	r, ok := c.table.Region(offset)
	inst, err := disasm.Decode(c.table.Arch, c.file.Slice(offset, min(16, r.Offset+r.Size-offset)), r.Address+offset-r.Offset)
	if !ok || err != nil || inst.Kind != insn.Call {
		return "no call"
	}
	w := walk{p: p, g: g}
	w.follow(c, inst)
	switch {
	case w.found && len(w.visited) <= 1:
		return "called"
	case w.found:
		return "left for"
	case w.unknown || len(w.visited) == 0:
		return "not known"
	}
	return "contradicted"
}

// walk searches for a function among those that a call can reach without another call or a return.
type walk struct {
	p       *archived
	g       callee
	visited []string
	found   bool
	unknown bool // it is not known where the code jumps to
}

func (w *walk) follow(c *code, inst insn.Inst) {
	if inst.HasSlot {
		w.symbol(c, inst.Slot)
		return
	}
	offset, ok := c.addresses.Offset(inst.Target)
	f, known := c.table.Function(offset)
	if !inst.HasTarget || !ok || !known {
		w.unknown = true
		return
	}
	if f.Kind == funcinfo.PLT {
		slot, ok := disasm.StubSlot(c.table.Arch, c.file.Slice(offset, 16), inst.Target)
		if !ok {
			w.unknown = true
			return
		}
		w.symbol(c, slot)
		return
	}
	w.enter(c, f)
}

// symbol enters all functions that the dynamic linker may have bound a slot to.
func (w *walk) symbol(c *code, at uint64) {
	slot, ok := c.table.Slot(at)
	if !ok {
		w.unknown = true
		return
	}
	bound := false
	for _, o := range w.p.objects {
		for f := range o.table.Functions.All() {
			if slices.Contains(strings.Split(f.Aliases, "\t"), slot.Symbol) {
				bound = true
				w.unknown = w.unknown || o.choosers[slot.Symbol]
				w.enter(o, f)
			}
		}
	}
	w.unknown = w.unknown || !bound
}

// enter visits a function and the functions that it jumps to.
func (w *walk) enter(c *code, f symtab.Function) {
	key := fmt.Sprint(c.path, " ", f.Offset)
	if slices.Contains(w.visited, key) {
		return
	}
	w.visited = append(w.visited, key)
	w.found = w.found || w.g.is(c.path, f)
	if w.found || f.Kind == funcinfo.Static {
		w.unknown = true
		return
	}
	for i := range disasm.Walk(c.table.Arch, c.file.Slice(f.Offset, f.Size), f.Address) {
		switch {
		case i.Err != nil:
			w.unknown = true
		case i.Inst.Kind != insn.Jump && i.Inst.Kind != insn.CondJump:
		case i.Inst.HasTarget && i.Inst.Target-f.Address < f.Size:
		case i.Inst.HasTarget || i.Inst.HasSlot:
			w.follow(c, i.Inst)
		default:
			w.unknown = true
		}
	}
}
