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

// Data finds the data objects of a recording's samples (S27), and sums the metrics by data
// object, instruction and method of finding it.
type Data struct {
	Space *dataspace.Space
	Sums  []DataSum // in the order in which they occur

	experimentID string
	emit         attribute.Emit  // of `data_samples`
	metrics      []schema.Metric // of the recording
	triggers     map[string]decode.Trigger
	program      *program.Program
	sums         map[dataKey]int
	regions      map[dataspace.RegionNo]bool // with samples
}

// DataSum holds the metrics of one instruction's accesses to one data object.
type DataSum struct {
	dataKey
	PerMetric []attribute.Sum
}

// Location returns the location of the instruction.
func (s *DataSum) Location() program.LocationNo { return s.location }

type dataKey struct {
	object    dataspace.ObjectNo
	location  program.LocationNo
	method    dataspace.Method
	detail    string
	agreement dataspace.Agreement
	embedding dataspace.ObjectNo
}

// Triggers returns, by counter, how the PC of a sample relates to the instruction that accessed
// memory, or NoTrigger. If processes disagree, the first with a trigger decides.
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

// NewData returns nil if none of the recording's samples has a data object.
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

// Process returns the sink of a process with these recorded stacks and heap blocks. blocks may
// be nil.
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

// counts returns the batch's counts, for all samples, of metrics that have data objects.
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

// AccessLocations returns the instructions that accessed data objects, with repetitions.
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

// Renumber replaces the numbers of the sums' locations by new ones, by the old numbers.
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
