package samples

import (
	"stackmill/internal/memo"
	"stackmill/schema"
	"stackmill/stages/attribute"
	"stackmill/stages/dataspace"
	"stackmill/stages/decode"
	"stackmill/stages/program"
	"stackmill/stages/symbolize"
)

// Data finds the data objects of a recording's samples (S27), and sums the metrics by data object,
// instruction, and the way in which the object was found.
type Data struct {
	Space *dataspace.Space
	Sums  []DataSum // in the order in which they occur

	experimentID string
	emit         attribute.Emit  // takes the rows of table data_samples
	metrics      []schema.Metric // the recording's metrics
	triggers     map[string]decode.Trigger
	program      *program.Program
	sums         map[dataKey]int
	regions      map[dataspace.RegionNo]bool // regions that have samples
}

// DataSum holds the sums of the metrics over the accesses of one instruction to one data object.
type DataSum struct {
	dataKey
	PerMetric []attribute.Sum
}

// Location returns the location of the instruction that made the accesses.
func (s *DataSum) Location() program.LocationNo { return s.location }

type dataKey struct {
	object    dataspace.ObjectNo
	location  program.LocationNo
	method    dataspace.Method
	detail    string
	agreement dataspace.Agreement
	embedding dataspace.ObjectNo
}

// Triggers returns, by counter, where the instruction that accessed memory is relative to a
// sample's PC (NoTrigger if unknown). If processes disagree, the first one with a trigger decides.
func Triggers(rec *decode.Recording) map[string]decode.Trigger {
	triggers := map[string]decode.Trigger{}
	for _, p := range rec.Processes {
		for _, c := range p.Counters {
			if triggers[c.Name] == decode.NoTrigger {
				triggers[c.Name] = c.Trigger
			}
		}
	}
	return triggers
}

// NewData returns the Data of a recording, nil if none of its counters has data objects.
func NewData(experimentID string, rec *decode.Recording, metrics []schema.Metric, resolver *symbolize.Resolver, tables dataspace.Tables, emit attribute.Emit) *Data {
	for _, m := range metrics {
		if m.Data {
			return &Data{
				experimentID: experimentID, emit: emit,
				Space: dataspace.New(resolver, tables, &rec.Problems), metrics: metrics, triggers: Triggers(rec),
				program: resolver.Program, sums: map[dataKey]int{}, regions: map[dataspace.RegionNo]bool{},
			}
		}
	}
	return nil
}

// DataProcess finds the data objects of one process's samples.
type DataProcess struct {
	data  *Data
	raw   *decode.Stacks
	space *dataspace.Process
}

// Process returns the sink for a process. blocks are its heap blocks, nil if unknown.
func (d *Data) Process(p *decode.Process, raw *decode.Stacks, resolved *symbolize.Process, blocks *dataspace.Blocks) *DataProcess {
	return &DataProcess{d, raw, d.Space.Process(p, resolved, blocks)}
}

// Add implements Sink: it emits a row of `data_samples` for each sample with a data object.
func (p *DataProcess) Add(b *Batch) error {
	d := p.data
	counts := d.counts(b)
	if len(counts) == 0 {
		return nil
	}
	in := newAccessColumns(b, d.triggers)
	rows := d.newRows()
	last, slot := dataKey{object: program.None}, 0
	for i, t := range b.Times {
		if !countsAny(counts, i) {
			continue
		}
		e := in.event(i, p.leaf(in.stacks[i]))
		e.Time = t
		found := p.space.Find(&e)
		k := dataKey{found.Object, found.Location, found.Method, found.Detail, found.Agreement, found.Embedding}
		if k != last {
			last, slot = k, d.intern(k)
		}
		for _, c := range counts {
			if v := c.Values[i]; v != 0 {
				d.Sums[slot].PerMetric[c.Metric].Add(v)
			}
		}
		d.appendRow(rows, b.First+int64(i), &found)
	}
	return rows.Close()
}

// counts returns the batch's counts of the metrics that have data objects.
func (d *Data) counts(b *Batch) (list []Count) {
	for _, c := range b.Counts {
		if d.metrics[c.Metric].Data {
			list = append(list, Count{Metric: c.Metric, Values: c.allValues(b.Len())})
		}
	}
	return list
}

// countsAny reports whether a sample contributes to any of the metrics.
func countsAny(counts []Count, sample int) bool {
	for _, c := range counts {
		if c.Values[sample] != 0 {
			return true
		}
	}
	return false
}

// leaf returns the PC of a recorded stack's leaf, 0 if it has none.
func (p *DataProcess) leaf(stack int32) uint64 {
	if stack < 0 {
		return 0
	}
	if leaf := p.raw.Leaf(stack); leaf >= 0 {
		if word, _, _ := p.raw.Node(leaf); word < decode.MarkCall {
			return word
		}
	}
	return 0
}

// AccessLocations returns the locations of the instructions that accessed data objects, some of
// them repeatedly.
func (d *Data) AccessLocations() (list []program.LocationNo) {
	if d == nil {
		return nil
	}
	for i := range d.Sums {
		if n := d.Sums[i].location; n >= 0 {
			list = append(list, n)
		}
	}
	return list
}

// Renumber replaces the location numbers in the sums; locations maps old numbers to new ones.
func (d *Data) Renumber(locations []program.LocationNo) {
	if d == nil {
		return
	}
	for i := range d.Sums {
		if l := &d.Sums[i].location; *l >= 0 {
			*l = locations[*l]
		}
	}
}

func (d *Data) intern(k dataKey) int {
	return memo.Get(d.sums, k, func() int {
		d.Sums = append(d.Sums, DataSum{k, make([]attribute.Sum, len(d.metrics))})
		return len(d.Sums) - 1
	})
}

// accessColumns holds the columns of a batch's events that describe memory accesses.
type accessColumns struct {
	stacks, sources  []int32
	triggers         []decode.Trigger // index of a source -> the trigger of its events
	addresses        []int64
	candidate, exact []int64 // nil if the kind has none
	codes            bool    // small addresses are codes that say why the address is missing
}

func newAccessColumns(b *Batch, triggers map[string]decode.Trigger) *accessColumns {
	e := b.Events
	in := &accessColumns{stacks: e.Int32s("raw_stack"), addresses: e.Int64s("data_address"), codes: b.Kind.Traits().Codes}
	if e.Has("trigger_pc") {
		in.candidate = e.Int64s("trigger_pc")
	}
	if e.Has("exact_pc") {
		in.exact = e.Int64s("exact_pc")
	}
	var numbers map[string]int32
	in.sources, numbers = b.sources()
	in.triggers = make([]decode.Trigger, len(numbers))
	for name, n := range numbers {
		in.triggers[n] = triggers[name]
	}
	return in
}

// Data addresses up to lastCode are codes that say why there is no address; codeMask selects the
// bits that the collector sets (gprofng-experiment 9.5).
const (
	lastCode = 0xfe
	codeMask = 0xf
)

// event returns the i-th sample's access, given its leaf's PC.
func (in *accessColumns) event(i int, pc uint64) dataspace.Event {
	e := dataspace.Event{PC: pc, Trigger: in.triggers[in.sources[i]]}
	if in.exact != nil && in.exact[i] != 0 && e.Trigger != decode.NoTrigger {
		e.Trigger = decode.TriggerExact
	}
	switch a := uint64(in.addresses[i]); {
	case in.addresses[i] == -1 || a == 0:
	case in.codes && a <= lastCode:
		e.Code = int(a & codeMask)
	default:
		e.Address, e.HasAddress = a, true
	}
	switch {
	case in.candidate == nil || in.candidate[i] == 0:
	case e.Trigger == decode.TriggerSkid:
		e.Candidate = uint64(in.candidate[i])
	default: // the PC that the processor recorded is more precise than that of the interrupt
		e.PC = uint64(in.candidate[i])
	}
	return e
}

// namesOf returns the names of the values 0 to last, as String gives them.
func namesOf[T interface {
	~uint8
	String() string
}](last T) (names []string) {
	for i := T(0); i <= last; i++ {
		names = append(names, i.String())
	}
	return names
}

// The labels of the columns `method` and `agreement`.
var methodNames, agreementNames = namesOf(dataspace.MethodAddress), namesOf(dataspace.Disagrees)

// newRows returns a builder of rows of `data_samples`.
func (d *Data) newRows() *schema.Rows {
	return schema.NewRows(schema.DataSamples, d.experimentID, d.emit).Labels("method", methodNames...).Labels("agreement", agreementNames...)
}

// appendRow appends the row of a sample.
func (d *Data) appendRow(rows *schema.Rows, sample int64, f *dataspace.Match) {
	var location, region, embedding int64
	if f.Location >= 0 {
		location = d.program.LocationID(f.Location)
	}
	if f.Region >= 0 {
		region = d.Space.Regions[f.Region].ID
		d.regions[f.Region] = true
	}
	if f.Embedding >= 0 {
		embedding = d.Space.Objects[f.Embedding].ID
	}
	rows.Int64(sample).Int64(d.Space.Objects[f.Object].ID).Int64If(f.Location >= 0, location).Label(int(f.Method))
	rows.Int64If(f.Region >= 0, region).Label(int(f.Agreement)).Int64If(f.Embedding >= 0, embedding)
}

// Rows emits the data objects, their values, and the memory regions with samples.
func (d *Data) Rows(r *attribute.Result, emit attribute.Emit) error {
	if d == nil {
		return nil
	}
	space := d.Space
	objects := r.Rows(schema.DataObjects, emit)
	for i := range space.Objects {
		o := &space.Objects[i]
		var parent any
		if o.Parent >= 0 {
			parent = space.Objects[o.Parent].ID
		}
		objects.Append(o.ID, parent, o.Descriptor, o.Kind, o.Scope, o.ScopeKind, d.objectID(o.LoadObject),
			o.Name, o.Type, nullIfNegative(o.Offset), nullIfNegative(o.Size), nullIfNegative(o.ElementSize), o.Bit, o.Bits)
	}
	regions := r.Rows(schema.MemoryRegions, emit)
	for n, m := range space.Regions {
		if !d.regions[dataspace.RegionNo(n)] {
			continue
		}
		regions.Append(m.ID, int32(m.Process), m.Kind, m.Name, int64(m.Address), int64(m.Size), d.objectID(m.LoadObject))
	}
	values := r.Rows(schema.DataValues, emit)
	for m, metric := range r.Sums.Metrics {
		for i := range d.Sums {
			s := &d.Sums[i]
			if v := s.PerMetric[m]; v.Samples > 0 {
				o := &space.Objects[s.object]
				values.Append(metric.Name, o.ID, locationNo(s.location), s.method.String(), s.detail, s.agreement.String(), d.dataObjectID(s.embedding), v.Value, v.Samples)
			}
		}
	}
	return schema.CloseAll(objects, regions, values)
}

// locationNo returns a location's number, nil for None.
func locationNo(n program.LocationNo) any {
	if n < 0 {
		return nil
	}
	return int32(n)
}

// dataObjectID returns a data object's identifier, nil for None.
func (d *Data) dataObjectID(n dataspace.ObjectNo) any {
	if n < 0 {
		return nil
	}
	return d.Space.Objects[n].ID
}

// objectID returns a load object's identifier, nil for None.
func (d *Data) objectID(n program.ObjectNo) any {
	if n < 0 {
		return nil
	}
	return d.program.Objects[n].ID
}

// nullIfNegative returns nil for -1, which means unknown.
func nullIfNegative(n int64) any {
	if n < 0 {
		return nil
	}
	return n
}
