package attribute

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"stackmill/schema"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/program"
)

// Emit receives a batch of a table's rows. It must retain the batch to use it after the call.
type Emit func(*schema.Table, arrow.RecordBatch) error

// Result holds the results of reading a recording's samples, from which its tables are made.
type Result struct {
	ExperimentID string
	Program      *program.Program
	Total        program.FunctionNo // the function `<Total>`
	Stacks       *Stacks
	Sums         *Sums
}

// StackRows emits the tables of program structure and stacks. The functions that emit rows may
// run concurrently; the order of rows depends on the recording alone.
func (r *Result) StackRows(emit Emit) error {
	for _, rows := range []func(Emit) error{r.metricRows, r.programRows, r.stackTreeRows, r.stackValueRows} {
		if err := rows(emit); err != nil {
			return err
		}
	}
	return nil
}

// Rows returns a builder of a table's rows. Its column `metric`, if any, takes indices of metrics.
func (r *Result) Rows(t *schema.Table, emit Emit) *schema.Rows {
	rows := schema.NewRows(t, r.ExperimentID, emit)
	if t.Has("metric") {
		rows.Labels("metric", r.metricNames()...)
	}
	return rows
}

func (r *Result) metricNames() []string {
	names := make([]string, len(r.Sums.Metrics))
	for i, m := range r.Sums.Metrics {
		names[i] = m.Name
	}
	return names
}

func (r *Result) metricRows(emit Emit) error {
	rows, instead := r.Rows(schema.Metrics, emit), r.shownInstead()
	for i, m := range r.Sums.Metrics {
		rows.Append(m.Name, m.Title, m.Unit, m.Kind.String(), m.Data, m.Preferred || slices.Contains(instead, i))
	}
	return rows.Close()
}

// shownInstead returns the metrics that reports show by default if the usual default has no values:
// the first metric, in the usual order, that has values, and the first such metric with data
// objects. It returns none if both usual defaults have values, or if the recording itself prefers
// metrics.
func (r *Result) shownInstead() []int {
	metrics := r.Sums.Metrics
	order := make([]int, len(metrics))
	for i := range order {
		if order[i] = i; metrics[i].Preferred {
			return nil
		}
	}
	slices.SortFunc(order, func(a, b int) int { return schema.CompareMetrics(metrics[a].Name, metrics[b].Name) })
	of := slices.DeleteFunc(slices.Clone(order), func(m int) bool { return !metrics[m].Data })
	all, data := slices.IndexFunc(order, r.hasValues), slices.IndexFunc(of, r.hasValues)
	if all <= 0 && data <= 0 {
		return nil
	}
	shown := []int{order[all]} // reports show the first preferred metric, so list it even if only the data metric differs
	if data >= 0 {
		shown = append(shown, of[data])
	}
	return shown
}

// hasValues reports whether some stack has a value of a metric.
func (r *Result) hasValues(metric int) bool {
	for i := range r.Stacks.Recorded {
		if r.Sums.value(RecordedStackNo(i), metric) != 0 {
			return true
		}
	}
	return false
}

func (r *Result) programRows(emit Emit) error {
	p := r.Program
	objects := r.Rows(schema.LoadObjects, emit)
	short, _ := p.ShortPaths()
	for n, o := range p.Objects {
		objects.Append(o.ID, o.Name, o.Path, o.BuildID, int64(o.Checksum), o.Kind, o.Symbols, int64(o.FunctionCount), o.Lines, short[n])
	}
	modules := r.Rows(schema.Modules, emit)
	for _, m := range p.Modules {
		modules.Append(m.ID, p.Objects[m.Object].ID, m.Name, m.Language, m.ShortPath)
	}
	scopes := p.NameScopes()
	functions := r.Rows(schema.Functions, emit).Expect(len(p.Functions))
	for n := range p.Functions {
		f := &p.Functions[n]
		functions.Int32(int32(n)).Int64(f.ID).Int64(p.Objects[f.Object].ID).Int64(p.Modules[f.Module].ID).Text(f.Name)
		for _, other := range [...]struct{ name, usual string }{{f.GprofngName, f.Name}, {f.PerfName, f.Name}, {f.Linkage, f.Name}, {f.Aliases, f.Linkage}} {
			if other.name == other.usual {
				functions.Null()
			} else {
				functions.Text(other.name)
			}
		}
		functions.Text(string(f.Kind)).Int64(int64(f.Address)).Int64(int64(f.Offset)).Int64(int64(f.Size))
		relation, ok := p.Relations[program.FunctionNo(n)]
		for _, kind := range [...]funcinfo.Kind{funcinfo.Clone, funcinfo.Outline, funcinfo.Body} { // clone_of, outline_of, body_of
			functions.Int64If(ok && f.Kind == kind, p.Functions[relation.Main].ID)
		}
		functions.Int32(relation.Line).Int32(f.Line).Text(scopes[n].String())
	}
	return schema.CloseAll(objects, modules, functions)
}

// LocationRows emits the locations on stacks. For a location inside an instruction, the function
// `instruction` returns where the instruction starts.
func (r *Result) LocationRows(emit Emit, instruction func(*program.Location) (start uint64, ok bool)) error {
	p := r.Program
	rows := r.Rows(schema.Locations, emit).Expect(p.Locations.Len())
	inlined := r.Rows(schema.InlineFrames, emit)
	for n := range program.LocationNo(p.Locations.Len()) {
		l := p.Location(n)
		object := p.Objects[l.Object].ID
		id := p.LocationID(n)
		rows.Int32(int32(n)).Int64If(id != schema.PathPart(object, int64(l.Offset)), id)
		rows.Int64(object).Int32(int32(l.Function)).Int64(int64(l.Offset))
		start, inside := instruction(l)
		rows.Int64If(inside, int64(start))
		rows.Text(l.File).Int32(l.Line).Int32(l.Discriminator).Text(l.Reason)
		for depth, f := range p.InlinedAt(n) {
			inlined.Append(int32(n), int32(depth), int32(f.Function), f.File, f.Line, f.Discriminator)
		}
	}
	return schema.CloseAll(rows, inlined)
}

func (r *Result) stackValueRows(emit Emit) error {
	rows := r.Rows(schema.StackValues, emit).Expect(len(r.Stacks.Recorded))
	for i := range r.Stacks.Recorded {
		for m, s := range r.Sums.Each(RecordedStackNo(i)) {
			rows.Int32(int32(i)).Label(m).Int64(s.Value).Int64(s.Samples)
		}
	}
	return rows.Close()
}

// functionNumber returns a function's number in the tables, where None is `<Total>`.
func (r *Result) functionNumber(n program.FunctionNo) int32 {
	if n == program.None {
		n = r.Total
	}
	return int32(n)
}
