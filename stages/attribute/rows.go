package attribute

import (
	"errors"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"stackmill/schema"
	"stackmill/stages/listing"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/program"
	"stackmill/stages/symbolize"
	"stackmill/stages/symbolize/image"
)

// Emit takes a batch of a table's rows; it retains it if it keeps it.
type Emit func(*schema.Table, arrow.RecordBatch) error

// Result is everything that is known of a recording once its samples were read.
type Result struct {
	ExperimentID string
	Program      *program.Program
	Total        program.FunctionNo // the function `<Total>`
	Stacks       *Stacks
	Sums         *Sums
	Files        *Files
	Data         *Data                          // nil: no sample has a data object
	CGroups      []string                       // names of control groups
	Disassembler func() *symbolize.Disassembler // of the program
	Sources      Sources
	Lists        *listing.Draft // what the experiment shares with others of its batch
}

// StackRows emits the tables of program structure and stacks. The functions that
// emit rows may run at once; the order of rows depends on the recording alone.
func (r *Result) StackRows(emit Emit) error {
	return inTurn(emit, r.metrics, r.program, r.stacks, r.files, r.stackValues, r.usageValues, r.data)
}

// CodeRows emits the tables of instructions, those of the first functions foremost.
func (r *Result) CodeRows(emit Emit, ranked []program.FunctionNo) error {
	meant, err := r.instructions(emit, ranked)
	return errors.Join(err, r.locations(emit, meant))
}

func inTurn(emit Emit, tables ...func(Emit) error) error {
	for _, rows := range tables {
		if err := rows(emit); err != nil {
			return err
		}
	}
	return nil
}

// rows returns a builder of a table's rows, whose labels are known.
func (r *Result) rows(t *schema.Table, emit Emit) *schema.Rows {
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

func (r *Result) metrics(emit Emit) error {
	rows, instead := r.rows(schema.Metrics, emit), r.shownInstead()
	for i, m := range r.Sums.Metrics {
		rows.Append(m.Name, m.Title, m.Unit, m.Kind.String(), m.Data, m.Preferred || slices.Contains(instead, i))
	}
	return rows.Close()
}

// shownInstead returns the metrics that reports show, and reports of data objects, where one that
// they would show has no values: the first in their order that have. There are none if there is
// no need. What the recording prefers stays.
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
	shown := []int{order[all]} // also if only that of data objects is another one: it comes first
	if data >= 0 {
		shown = append(shown, of[data])
	}
	return shown
}

// hasValues reports whether some stack has a value of a metric.
func (r *Result) hasValues(metric int) bool {
	for i := range r.Stacks.Recorded {
		if r.Sums.value(RecordedNo(i), metric) != 0 {
			return true
		}
	}
	return false
}

func (r *Result) program(emit Emit) error {
	p := r.Program
	objects := r.rows(schema.LoadObjects, emit)
	short, _ := p.ShortPaths()
	for n, o := range p.Objects {
		objects.Append(o.ID, o.Name, o.Path, o.BuildID, int64(o.Checksum), o.Kind, o.Symbols, int64(o.FunctionCount), o.Lines, short[n])
	}
	modules := r.rows(schema.Modules, emit)
	for _, m := range p.Modules {
		modules.Append(m.ID, p.Objects[m.Object].ID, m.Name, m.Language, m.ShortPath)
	}
	scopes := p.NameScopes()
	functions := r.rows(schema.Functions, emit).Expect(len(p.Functions))
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
			if ok && f.Kind == kind {
				functions.Int64(p.Functions[relation.Main].ID)
			} else {
				functions.Null()
			}
		}
		functions.Int32(relation.Line).Int32(f.Line).Text(scopes[n].String())
	}
	return closeAll(objects, modules, functions)
}

// locations emits the instructions on stacks; meant has the starts of those that a
// location lies inside of.
func (r *Result) locations(emit Emit, meant map[spot]uint64) error {
	p := r.Program
	rows := r.rows(schema.Locations, emit).Expect(p.Locations.Len())
	inlined := r.rows(schema.InlineFrames, emit)
	for n := range program.LocationNo(p.Locations.Len()) {
		l := p.Location(n)
		object := p.Objects[l.Object].ID
		rows.Int32(int32(n))
		if id := p.LocationID(n); id == schema.PathPart(object, int64(l.Offset)) {
			rows.Null()
		} else {
			rows.Int64(id)
		}
		rows.Int64(object).Int32(int32(l.Function)).Int64(int64(l.Offset))
		if at, ok := meant[spotOf(p, l.Function, l.Offset)]; ok && l.Reason == "" {
			rows.Int64(int64(at - l.Offset))
		} else {
			rows.Null()
		}
		rows.Text(l.File).Int32(l.Line).Int32(l.Discriminator).Text(l.Reason)
		for depth, f := range p.InlinedAt(n) {
			inlined.Append(int32(n), int32(depth), int32(f.Function), f.File, f.Line, f.Discriminator)
		}
	}
	return closeAll(rows, inlined)
}

func (r *Result) files(emit Emit) error {
	rows := r.rows(schema.IOFiles, emit)
	for _, m := range r.Sums.Metrics {
		if m.Kind == schema.IO {
			for _, f := range r.Files.Files {
				rows.Append(f.Number, int32(f.Process), f.Name, f.FileSystem)
			}
			break
		}
	}
	return rows.Close()
}

func (r *Result) stackValues(emit Emit) error {
	rows := r.rows(schema.StackValues, emit).Expect(len(r.Stacks.Recorded))
	for i := range r.Stacks.Recorded {
		for m, s := range r.Sums.Each(RecordedNo(i)) {
			rows.Int32(int32(i)).Label(m).Int64(s.Value).Int64(s.Samples)
		}
	}
	return rows.Close()
}

func (r *Result) usageValues(emit Emit) error {
	rows := r.rows(schema.UsageValues, emit).Labels("cgroup", r.CGroups...)
	for u := range r.Sums.Usage() {
		rows.Int32(u.Process).Int64(u.Thread).Int32(u.Name)
		if u.CGroup < 0 {
			rows.Null()
		} else {
			rows.Label(int(u.CGroup))
		}
		rows.Int32(u.CPU).Int32(u.Second).Label(u.Metric).Int64(u.Value).Int64(u.Samples)
	}
	return rows.Close()
}

// function returns a function's number as tables have it: that of `<Total>` for None.
func (r *Result) function(n program.FunctionNo) int32 {
	if n == program.None {
		n = r.Total
	}
	return int32(n)
}

// Segments appends the mappings of a process's load objects to rows.
func Segments(rows *schema.Rows, process int, p *symbolize.Process) {
	p.Segments(func(m *image.Mapping, object int64) {
		var unloaded any
		if m.Unloaded != image.Never {
			unloaded = m.Unloaded
		}
		rows.Append(int32(process), object, int64(m.Address), int64(m.Size), int64(m.FileOffset),
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
