package code

import (
	"errors"
	"maps"
	"slices"

	"stackmill/schema"
	"stackmill/stages/attribute"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/program"
	"stackmill/stages/symbolize"
)

// instructions emits the instructions of the functions on stacks, which are ranked, as
// far as no experiment of the batch has the same ones. It returns the starts of those that
// locations lie inside of.
func (r *Result) instructions(emit attribute.Emit, ranked []program.FunctionNo) (meant map[spot]uint64, err error) {
	p := r.Program
	meant = make(map[spot]uint64, p.Locations.Len()/2) // most return addresses have one
	rows := schema.NewRows(schema.Instructions, "", emit)
	links := map[program.FunctionNo]link{}
	pcs := r.pcs()
	listed := slices.DeleteFunc(ranked, func(n program.FunctionNo) bool { return len(pcs[n]) == 0 })
	r.disassemble(listed, pcs, func(n program.FunctionNo, code *symbolize.Disassembly) {
		if code.Count > 0 {
			l := r.link(code.Content)
			if links[n] = l; l.first {
				listInstructions(rows, l.number, code.Instructions)
			}
		}
		for pc, to := range code.Meant {
			meant[spotOf(p, n, pc)] = to
		}
	})
	return meant, errors.Join(rows.Close(), r.listings(emit, links))
}

// listInstructions appends the rows of a list.
func listInstructions(rows *schema.Rows, number int32, list []symbolize.Instruction) {
	for at := range list {
		i := &list[at]
		rows.Int32(number).Int64(int64(i.Offset)).Int32(int32(i.Size)).Text(i.Text)
		if i.HasTarget {
			rows.Int64(int64(i.Target))
		} else {
			rows.Null()
		}
		rows.Text(i.TargetName).Text(i.File).Int32(i.Line)
	}
}

// link says which list of the batch something of the experiment has.
type link struct {
	number  int32
	first   bool // the list is new
	content int64
}

func (r *Result) link(content int64) link {
	number, first := r.Lists.Number(content)
	return link{number, first, content}
}

// append adds the columns of a link to a row, from `listed_in` on.
func (l link) append(rows *schema.Rows) {
	if rows.Label(0).Int32(l.number); l.first {
		rows.Int64(l.content)
	} else {
		rows.Null()
	}
}

// listings emits which instructions are the functions'.
func (r *Result) listings(emit attribute.Emit, links map[program.FunctionNo]link) error {
	rows := r.Rows(schema.Listings, emit).Labels("listed_in", "").Expect(len(links))
	for _, n := range slices.Sorted(maps.Keys(links)) {
		rows.Int64(r.Program.Objects[r.Program.Functions[n].Object].ID).Int32(int32(n))
		links[n].append(rows)
	}
	return rows.Close()
}

// spot is a place in machine code: an offset in a load object's file or, for code
// that is in no file, in the function.
type spot struct {
	object   program.ObjectNo
	function program.FunctionNo
	offset   uint64
}

func spotOf(p *program.Program, function program.FunctionNo, offset uint64) spot {
	s := spot{p.Functions[function].Object, function, offset}
	if p.Objects[s.object].Kind == "elf" {
		s.function = 0
	}
	return s
}

// pcs returns, by function on a stack, the sorted offsets of its first instruction and
// of those in it that are on stacks or accessed data objects. A static region may
// start with anything, so its start is left out.
func (r *Result) pcs() [][]uint64 {
	p := r.Program
	all := make([][]uint64, len(p.Functions))
	seen := make([]bool, p.Locations.Len())
	add := func(location program.LocationNo) {
		l := p.Location(location)
		g := &p.Functions[l.Function]
		// In user mode a function has instructions of its bodies, too (S11). A procedure
		// linkage table has several sections.
		if !seen[location] && (l.Offset-g.Offset < g.Size || g.Kind == funcinfo.PLT) {
			seen[location] = true
			all[l.Function] = append(all[l.Function], l.Offset)
		}
	}
	for _, f := range r.Stacks.Frames {
		for _, location := range f.Shown {
			if location >= 0 {
				add(location)
			}
		}
	}
	for _, location := range r.Accessed {
		add(location)
	}
	for n, pcs := range all {
		if f := &p.Functions[n]; len(pcs) > 0 && f.Kind != funcinfo.Static {
			pcs = append(pcs, f.Offset)
		}
		slices.Sort(pcs)
		all[n] = slices.Compact(pcs)
	}
	return all
}
