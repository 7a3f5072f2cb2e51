package samples

import (
	"stackmill/schema"
	"stackmill/stages/attribute"
	"stackmill/stages/dataspace"
	"stackmill/stages/decode"
	"stackmill/stages/program"
	"stackmill/stages/symbolize"
)

// Data finds the data objects of a recording's samples (S27), and sums its
// metrics per object, instruction and way of finding it.
type Data struct {
	Space *dataspace.Space
	Sums  []DataSum // in the order in which they occur

	ids      *schema.Labels  // the experiment's id
	emit     attribute.Emit  // of `data_samples`
	metrics  []schema.Metric // of the recording
	triggers map[string]decode.Trigger
	program  *program.Program
	sums     map[dataKey]int
	regions  map[dataspace.RegionNo]bool // that samples are in
}

// DataSum is what one instruction did to one data object.
type DataSum struct {
	dataKey
	PerMetric []attribute.Sum
}

// Location is the number of the instruction in the program's locations.
func (s *DataSum) Location() program.LocationNo { return s.location }

type dataKey struct {
	object    dataspace.ObjectNo
	location  program.LocationNo
	method    dataspace.Method
	detail    string
	agreement dataspace.Agreement
	embedding dataspace.ObjectNo
}

// Triggers returns, by counter, whether its samples are accesses to memory and how
// their PCs relate to these. Processes that were recorded alike agree; where they
// do not, the first that has data objects decides.
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

// NewData prepares for a recording; nil if none of its samples has a data object.
func NewData(experimentID string, rec *decode.Recording, metrics []schema.Metric, resolver *symbolize.Resolver, tables dataspace.Tables, emit attribute.Emit) *Data {
	for _, m := range metrics {
		if m.Data {
			return &Data{
				ids: schema.NewLabels(experimentID), emit: emit,
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

// Process returns the sink of a process whose recorded stacks are raw, and whose
// heap has had these blocks, which may be nil.
func (d *Data) Process(p *decode.Process, raw *decode.Stacks, resolved *symbolize.Process, blocks *dataspace.Blocks) *DataProcess {
	return &DataProcess{d, raw, d.Space.Process(p, resolved, blocks)}
}

// Add implements Sink: it emits a row of `data_samples` for each sample that has a
// data object.
func (p *DataProcess) Add(b *Batch) error {
	d := p.data
	counts := d.counts(b)
	if len(counts) == 0 {
		return nil
	}
	in := newAccesses(b, d.triggers)
	out := newDataRows(d)
	last, slot := dataKey{object: program.None}, 0
	for i, t := range b.Times {
		if !anyOf(counts, i) {
			continue
		}
		e := in.event(i, p.leaf(in.stacks[i]))
		e.Time = t
		found := p.space.Find(&e)
		k := dataKey{found.Object, found.Location, found.Method, found.Detail, found.Agreement, found.Embedding}
		if k != last {
			last, slot = k, d.slot(k)
		}
		for _, c := range counts {
			if v := c.Values[i]; v != 0 {
				d.Sums[slot].PerMetric[c.Metric].Add(v)
			}
		}
		out.add(b.First+int64(i), &found)
	}
	return out.emit()
}

// counts returns the batch's counts of metrics that have data objects, of all samples.
func (d *Data) counts(b *Batch) (list []Count) {
	for _, c := range b.Counts {
		if d.metrics[c.Metric].Data {
			list = append(list, Count{Metric: c.Metric, Values: c.ofAll(b.Len())})
		}
	}
	return list
}

// anyOf reports whether a sample counts for any of the metrics.
func anyOf(counts []Count, sample int) bool {
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
	leaf := p.raw.Leaf(stack)
	if leaf < 0 {
		return 0
	}
	word, _, _ := p.raw.Node(leaf)
	if word >= decode.MarkCall {
		return 0
	}
	return word
}

// Accessed returns the instructions that accessed data objects, with repetitions.
func (d *Data) Accessed() (list []program.LocationNo) {
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

// Order gives the sums the new numbers of their locations, by those that they have.
func (d *Data) Order(locations []program.LocationNo) {
	if d == nil {
		return
	}
	for i := range d.Sums {
		if l := &d.Sums[i].location; *l >= 0 {
			*l = locations[*l]
		}
	}
}

func (d *Data) slot(k dataKey) int {
	n, ok := d.sums[k]
	if !ok {
		n = len(d.Sums)
		d.sums[k] = n
		d.Sums = append(d.Sums, DataSum{k, make([]attribute.Sum, len(d.metrics))})
	}
	return n
}
