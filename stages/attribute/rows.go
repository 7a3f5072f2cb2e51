package attribute

import (
	"errors"
	"math"

	"github.com/apache/arrow-go/v18/arrow"

	"stackmill/schema"
	"stackmill/stages/symbolize"
	"stackmill/stages/symbolize/image"
	"stackmill/stages/symbolize/symtab"
)

// Emit takes a batch of a table's rows; it retains it if it keeps it.
type Emit func(*schema.Table, arrow.RecordBatch) error

// Result is everything that is known of a recording once its samples were read.
type Result struct {
	ExperimentID string
	Program      *symbolize.Program
	Total        int32 // the function `<Total>`
	Stacks       *Stacks
	Sums         *Sums
	Files        *Files
	Disassembler *symbolize.Disassembler
	Sources      Sources
}

// Rows emits the tables of stacks, program structure and values, all but the
// samples themselves, in an order that depends on the recording alone.
func (r *Result) Rows(emit Emit) error {
	all := Compute(r.Program, r.Stacks, r.Sums)
	for _, rows := range []func(Emit) error{
		r.metrics, r.program, r.recorded, r.stacks, r.files, r.stackValues, r.usageValues,
	} {
		if err := rows(emit); err != nil {
			return err
		}
	}
	for _, v := range all {
		if err := r.values(emit, v); err != nil {
			return err
		}
	}
	meant, err := r.instructions(emit, all)
	return errors.Join(err, r.locations(emit, meant), r.sourceLines(emit, all))
}

func (r *Result) metrics(emit Emit) error {
	rows := schema.NewRows(schema.Metrics, emit)
	for _, m := range r.Sums.Metrics {
		rows.Append(r.ExperimentID, m.Name, m.Title, m.Unit, m.Kind.String())
	}
	return rows.Close()
}

func (r *Result) program(emit Emit) error {
	p := r.Program
	objects := schema.NewRows(schema.LoadObjects, emit)
	for _, o := range p.Objects {
		objects.Append(r.ExperimentID, o.ID, o.Name, o.Path, o.BuildID, int64(o.Checksum), o.Kind, o.Symbols, int64(o.FunctionCount))
	}
	modules := schema.NewRows(schema.Modules, emit)
	for _, m := range p.Modules {
		modules.Append(r.ExperimentID, m.ID, p.Objects[m.Object].ID, m.Name, m.Language)
	}
	functions := schema.NewRows(schema.Functions, emit)
	for n, f := range p.Functions {
		relation, line := related(p, int32(n))
		functions.Append(r.ExperimentID, f.ID, p.Objects[f.Object].ID, p.Modules[f.Module].ID, f.Name, f.GprofngName, f.PerfName, f.Linkage, f.Aliases,
			string(f.Kind), int64(f.Address), int64(f.Offset), int64(f.Size), relation[0], relation[1], relation[2], line)
	}
	return closeAll(objects, modules, functions)
}

// related returns the columns clone_of, outline_of, body_of and body_line.
func related(p *symbolize.Program, function int32) (of [3]any, line int32) {
	r, ok := p.Relations[function]
	if !ok {
		return of, 0
	}
	for i, kind := range []symtab.Kind{symtab.Clone, symtab.Outline, symtab.Body} {
		if p.Functions[function].Kind == kind {
			of[i] = p.Functions[r.Main].ID
		}
	}
	return of, r.Line
}

// locations emits the instructions on stacks; meant tells which those stand for
// that start none.
func (r *Result) locations(emit Emit, meant map[spot]uint64) error {
	p := r.Program
	rows := schema.NewRows(schema.Locations, emit)
	inlined := schema.NewRows(schema.InlineFrames, emit)
	for n, l := range p.Locations {
		var instruction any
		if at, ok := meant[spotOf(p, l.Function, l.Offset)]; ok && l.Reason == "" {
			instruction = int64(at)
		}
		rows.Append(r.ExperimentID, l.ID, p.Objects[l.Object].ID, p.Functions[l.Function].ID, int64(l.Offset), instruction, l.File, l.Line, l.Reason)
		for depth, f := range p.InlinedAt(int32(n)) {
			g := p.Functions[f.Function]
			inlined.Append(r.ExperimentID, l.ID, int32(depth), g.ID, g.Name, f.File, f.Line)
		}
	}
	return closeAll(rows, inlined)
}

func (r *Result) recorded(emit Emit) error {
	set := r.Stacks.Set.Stacks
	stacks := schema.NewRows(schema.RawStacks, emit)
	frames := schema.NewRows(schema.RawFrames, emit)
	for i := range r.Stacks.Recorded {
		s := &r.Stacks.Recorded[i]
		var from any
		if s.From != math.MinInt64 {
			from = s.From
		}
		stacks.Append(r.ExperimentID, s.ID, int32(s.Process), from, set[s.User].ID, set[s.Expert].ID, set[s.Machine].ID, s.Reason)
		if s.Stack == nil {
			continue
		}
		for j, w := range s.Stack.Words {
			frames.Append(r.ExperimentID, s.ID, "native", int32(j), int64(w), nil, r.locationID(s.Words[j]))
		}
		for j, f := range s.Stack.Java {
			frames.Append(r.ExperimentID, s.ID, "java", int32(j), int64(f.Method), int64(f.BCI), r.locationID(s.Java[j]))
		}
		for j, w := range s.Stack.OMP {
			frames.Append(r.ExperimentID, s.ID, "openmp", int32(j), int64(w), nil, r.locationID(s.OMP[j]))
		}
	}
	return closeAll(stacks, frames)
}

// locationID is nil for what is no location.
func (r *Result) locationID(n int32) any {
	if n < 0 {
		return nil
	}
	return r.Program.Locations[n].ID
}

func (r *Result) stacks(emit Emit) error {
	p := r.Program
	stacks := schema.NewRows(schema.Stacks, emit)
	frames := schema.NewRows(schema.Frames, emit)
	for _, s := range r.Stacks.Set.Stacks {
		var leaf, leafFunction any
		if len(s.Frames) > 0 {
			l := p.Locations[s.Frames[0].Location]
			leaf, leafFunction = l.ID, p.Functions[l.Function].ID
		}
		stacks.Append(r.ExperimentID, s.ID, int32(len(s.Frames)), leaf, leafFunction)
		for j, f := range s.Frames {
			l := p.Locations[f.Location]
			frames.Append(r.ExperimentID, s.ID, int32(j), l.ID, p.Functions[l.Function].ID, f.Rule.String())
		}
	}
	return closeAll(stacks, frames)
}

func (r *Result) files(emit Emit) error {
	rows := schema.NewRows(schema.IOFiles, emit)
	for _, m := range r.Sums.Metrics {
		if m.Kind == schema.IO {
			for _, f := range r.Files.Files {
				rows.Append(r.ExperimentID, f.Number, int32(f.Process), f.Name, f.FileSystem)
			}
			break
		}
	}
	return rows.Close()
}

func (r *Result) stackValues(emit Emit) error {
	rows := schema.NewRows(schema.StackValues, emit)
	for i := range r.Stacks.Recorded {
		for m, s := range r.Sums.Of(i) {
			if s.Samples > 0 {
				rows.Append(r.ExperimentID, r.Stacks.Recorded[i].ID, r.Sums.Metrics[m].Name, s.Value, s.Samples)
			}
		}
	}
	return rows.Close()
}

func (r *Result) usageValues(emit Emit) error {
	rows := schema.NewRows(schema.UsageValues, emit)
	for _, u := range r.Sums.Usage {
		for m, s := range u.PerMetric {
			if s.Samples > 0 {
				rows.Append(r.ExperimentID, int32(u.Process), u.Thread, u.CPU, u.Second, r.Sums.Metrics[m].Name, s.Value, s.Samples)
			}
		}
	}
	return rows.Close()
}

// values emits the rows of the modes that v holds for.
func (r *Result) values(emit Emit, v *Values) error {
	p := r.Program
	functionID := func(n int32) int64 {
		if n == totalFunction {
			n = r.Total
		}
		return p.Functions[n].ID
	}
	functions := schema.NewRows(schema.FunctionValues, emit)
	for m, metric := range r.Sums.Metrics {
		functions.Append(r.ExperimentID, int32(v.Modes), metric.Name, functionID(totalFunction), v.Total[m], v.Total[m])
	}
	r.tally(functions, v.Modes, &v.Functions, func(n int) []any { return []any{p.Functions[n].ID} })
	lines := schema.NewRows(schema.LineValues, emit)
	r.tally(lines, v.Modes, &v.Lines, func(n int) []any {
		k := v.LineKeys[n]
		return []any{p.Functions[k.Function].ID, k.File, k.Line}
	})
	sources := schema.NewRows(schema.SourceValues, emit)
	r.tally(sources, v.Modes, &v.Source, func(n int) []any { return []any{v.SourceKeys[n].File, v.SourceKeys[n].Line} })
	err := closeAll(functions, lines, sources, r.calls(emit, v, functionID), r.tree(emit, v, functionID))
	if err != nil || v.Modes&Plain == 0 {
		return err
	}
	plain := v.Modes & Plain
	pcs := schema.NewRows(schema.PCValues, emit)
	r.tally(pcs, plain, &v.PCs, func(n int) []any { return []any{p.Locations[n].ID} })
	modules := schema.NewRows(schema.ModuleValues, emit)
	r.tally(modules, plain, &v.Modules, func(n int) []any { return []any{p.Modules[n].ID} })
	objects := schema.NewRows(schema.ObjectValues, emit)
	r.tally(objects, plain, &v.Objects, func(n int) []any { return []any{p.Objects[n].ID} })
	return closeAll(pcs, modules, objects)
}

// tally appends a row per thing and metric for which a stack has a value; key
// gives the columns that name the thing.
func (r *Result) tally(rows *schema.Rows, modes Mode, t *tally, key func(int) []any) {
	for n := range t.stamp {
		for m, metric := range r.Sums.Metrics {
			if at := n*t.metrics + m; t.Seen[at] {
				row := append([]any{r.ExperimentID, int32(modes), metric.Name}, key(n)...)
				rows.Append(append(row, t.Exclusive[at], t.Inclusive[at])...)
			}
		}
	}
}

func (r *Result) calls(emit Emit, v *Values, functionID func(int32) int64) *schema.Rows {
	rows := schema.NewRows(schema.CallValues, emit)
	total := functionID(totalFunction)
	for m, metric := range r.Sums.Metrics {
		rows.Append(r.ExperimentID, int32(v.Modes), metric.Name, total, Self, total, v.Total[m])
		for _, c := range v.Calls {
			if c.Seen[m] {
				rows.Append(r.ExperimentID, int32(v.Modes), metric.Name, functionID(c.Function), c.Relation, functionID(c.Other), c.Attributed[m])
			}
		}
	}
	return rows
}

func (r *Result) tree(emit Emit, v *Values, functionID func(int32) int64) *schema.Rows {
	rows := schema.NewRows(schema.TreeValues, emit)
	v.identify(functionID)
	for m, metric := range r.Sums.Metrics {
		for i, n := range v.Tree {
			if i > 0 && n.Attributed[m] == 0 {
				continue
			}
			var parent any
			if n.Parent >= 0 {
				parent = v.Tree[n.Parent].ID
			}
			rows.Append(r.ExperimentID, int32(v.Modes), metric.Name, n.ID, parent, n.Depth, functionID(n.Function), n.Attributed[m], n.Exclusive[m])
		}
	}
	return rows
}

// Segments appends the mappings of a process's load objects to rows.
func Segments(rows *schema.Rows, experimentID string, process int, p *symbolize.Process) {
	p.Segments(func(m *image.Mapping, object int64) {
		var unloaded any
		if m.Unloaded != image.Never {
			unloaded = m.Unloaded
		}
		rows.Append(experimentID, int32(process), object, int64(m.Address), int64(m.Size), int64(m.FileOffset),
			int32(m.Modes), m.Loaded, unloaded)
	})
}

// closeAll closes all and returns the first error.
func closeAll(all ...*schema.Rows) error {
	var first error
	for _, rows := range all {
		if err := rows.Close(); first == nil {
			first = err
		}
	}
	return first
}
