// Package code emits machine code and source text: the instructions of functions with values,
// and the text of files with values.
package code

import (
	"errors"
	"maps"
	"slices"

	"stackmill/schema"
	"stackmill/stages/attribute"
	"stackmill/stages/listing"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/program"
	"stackmill/stages/symbolize"
)

// instructionRows emits the instructions of the ranked functions that are on stacks. It leaves out
// lists that the batch has already. For each PC inside an instruction, starts has the instruction's
// start.
func (r *Result) instructionRows(emit attribute.Emit, ranked []program.FunctionNo) (starts map[codePlace]uint64, err error) {
	p := r.Program
	starts = make(map[codePlace]uint64, p.Locations.Len()/2) // most PCs of calls are inside an instruction
	rows := schema.NewRows(schema.Instructions, "", emit)
	lists := map[program.FunctionNo]listRef{}
	pcs := r.pcsByFunction()
	listed := slices.DeleteFunc(ranked, func(n program.FunctionNo) bool { return len(pcs[n]) == 0 })
	r.disassemble(listed, pcs, func(n program.FunctionNo, code *symbolize.Disassembly) {
		if code.Count > 0 {
			l := r.internList(code.Content)
			if lists[n] = l; l.first {
				listInstructions(rows, l.number, code.Instructions)
			}
		}
		for pc, to := range code.Starts {
			starts[placeOf(p, n, pc)] = to
		}
	})
	return starts, errors.Join(rows.Close(), r.listingRows(emit, lists))
}

// listInstructions appends the rows of a list of instructions.
func listInstructions(rows *schema.Rows, number int32, list []symbolize.Instruction) {
	for at := range list {
		i := &list[at]
		rows.Int32(number).Int64(int64(i.Offset)).Int32(int32(i.Size)).Text(i.Text)
		rows.Int64If(i.HasTarget, int64(i.Target)).Text(i.TargetName).Text(i.File).Int32(i.Line)
	}
}

// listRef refers to a list of instructions or source lines of the batch (see package listing).
type listRef struct {
	number  int32
	first   bool // the list is new
	content int64
}

func (r *Result) internList(content int64) listRef {
	number, first := r.Lists.Intern(content)
	return listRef{number, first, content}
}

// append adds the columns of the reference to a row, from `listed_in` on.
func (l listRef) append(rows *schema.Rows) {
	rows.Label(0).Int32(l.number).Int64If(l.first, l.content)
}

// listingRows emits which list of instructions each function has.
func (r *Result) listingRows(emit attribute.Emit, lists map[program.FunctionNo]listRef) error {
	rows := r.Rows(schema.Listings, emit).Labels("listed_in", "").Expect(len(lists))
	for _, n := range slices.Sorted(maps.Keys(lists)) {
		rows.Int64(r.Program.Objects[r.Program.Functions[n].Object].ID).Int32(int32(n))
		lists[n].append(rows)
	}
	return rows.Close()
}

// codePlace is an offset in a load object's file or, for code outside of files, in a function.
type codePlace struct {
	object   program.ObjectNo
	function program.FunctionNo
	offset   uint64
}

func placeOf(p *program.Program, function program.FunctionNo, offset uint64) codePlace {
	s := codePlace{p.Functions[function].Object, function, offset}
	if p.Objects[s.object].Kind == "elf" {
		s.function = 0
	}
	return s
}

// pcsByFunction returns, by function, the sorted offsets of its instructions that are on stacks or
// accessed data objects, and the offset of its start (except for a static region, which may start
// with anything). Functions without such instructions have none.
func (r *Result) pcsByFunction() [][]uint64 {
	p := r.Program
	all := make([][]uint64, len(p.Functions))
	seen := make([]bool, p.Locations.Len())
	add := func(location program.LocationNo) {
		l := p.Location(location)
		g := &p.Functions[l.Function]
		// In user mode, a function's locations include instructions of its OpenMP bodies (S11),
		// which are not between its bounds. A procedure linkage table may consist of several
		// sections.
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

// Result adds what is needed to show code to the results of reading a recording's samples.
type Result struct {
	*attribute.Result
	Accessed     []program.LocationNo           // the instructions that accessed data objects, with repetitions
	Disassembler func() *symbolize.Disassembler // returns a disassembler of the program
	Sources      Sources
	Lists        *listing.Draft // lists that experiments of a batch share
}

// CodeRows emits the locations and instructions. If there is too much code, only the functions that
// are ranked first are disassembled whole.
func (r *Result) CodeRows(emit attribute.Emit, ranked []program.FunctionNo) error {
	starts, err := r.instructionRows(emit, ranked)
	return errors.Join(err, r.LocationRows(emit, func(l *program.Location) (uint64, bool) {
		if l.Reason != "" {
			return 0, false
		}
		start, ok := starts[placeOf(r.Program, l.Function, l.Offset)]
		return start, ok
	}))
}
