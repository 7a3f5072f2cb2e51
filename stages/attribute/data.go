package attribute

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"stackmill/schema"
	"stackmill/stages/dataspace"
	"stackmill/stages/decode"
	"stackmill/stages/symbolize"
)

// Data finds the data objects of a recording's samples (S27), and sums its
// metrics per object, instruction and way of finding it.
type Data struct {
	Space *dataspace.Space
	Sums  []DataSum // in the order in which they occur

	metrics  []schema.Metric // of the recording
	triggers map[string]decode.Trigger
	program  *symbolize.Program
	sums     map[dataKey]int
	regions  map[dataspace.RegionNo]bool // that samples are in
}

// DataSum is what one instruction did to one data object.
type DataSum struct {
	dataKey
	PerMetric []Sum
}

// Location is the number of the instruction in the program's locations.
func (s *DataSum) Location() symbolize.LocationNo { return s.location }

type dataKey struct {
	object    dataspace.ObjectNo
	location  symbolize.LocationNo
	method    dataspace.Method
	detail    string
	agreement dataspace.Agreement
	embedding dataspace.ObjectNo
}

// Triggers returns by name which counters' samples are accesses to memory, and
// how their PCs relate to these. Processes that were recorded alike agree; where
// they do not, the first that has data objects decides.
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

// NewData prepares for a recording; nil when none of its samples has data objects.
func NewData(rec *decode.Recording, metrics []schema.Metric, resolver *symbolize.Resolver, tables dataspace.Tables) *Data {
	for _, m := range metrics {
		if m.Data {
			return &Data{
				Space: dataspace.New(resolver, tables, &rec.Problems), metrics: metrics, triggers: Triggers(rec),
				program: resolver.Program, sums: map[dataKey]int{}, regions: map[dataspace.RegionNo]bool{},
			}
		}
	}
	return nil
}

// DataProcess finds the data objects of one process's samples.
type DataProcess struct {
	Blocks *dataspace.Blocks // of its heap, nil when allocations were not traced

	data    *Data
	process *decode.Process
	space   *dataspace.Process
}

// Process returns what finds the data objects of a process's samples; nil if d
// is. It runs ahead over the heap events: the error is theirs, the finder is good
// for what came before it.
func (d *Data) Process(p *decode.Process, resolved *symbolize.Process) (*DataProcess, error) {
	if d == nil {
		return nil, nil
	}
	blocks, err := heapBlocks(p)
	return &DataProcess{blocks, d, p, d.Space.Process(p, resolved, blocks)}, err
}

// heapBlocks returns the blocks that a process's heap events tell of, nil when
// allocations were not traced.
func heapBlocks(p *decode.Process) (*dataspace.Blocks, error) {
	if !slices.ContainsFunc(p.Kinds, func(k decode.KindInfo) bool { return k.Kind == schema.Heap }) {
		return nil, nil
	}
	blocks := &dataspace.Blocks{}
	events := p.Events(schema.Heap)
	defer events.Close()
	for {
		batch, err := events.Next()
		if err != nil || batch == nil {
			return blocks, err
		}
		e := payload{batch}
		ops, sizes, addresses, olds, times := e.int32s(0), e.int64s(1), e.int64s(2), e.int64s(3), e.times()
		for i, op := range ops {
			switch {
			case op == opFree || op == opMunmap:
				blocks.Free(uint64(addresses[i]), times[i])
			case addresses[i] == 0:
			default:
				if op == opRealloc {
					blocks.Free(uint64(olds[i]), times[i])
				}
				blocks.Allocate(uint64(addresses[i]), uint64(sizes[i]), times[i])
			}
		}
		batch.Release()
	}
}

// Add adds the samples of a batch: events are as recorded, rawStacks the numbers
// of their stacks. It returns the columns of `data_samples` behind `experiment_id`
// with a row for each sample that has a data object, which the caller releases;
// nil when there are none. The batch's first sample has the number first.
func (p *DataProcess) Add(b *Batch, events arrow.RecordBatch, first int64) []arrow.Array {
	if p == nil || b.Kind != schema.HWC && b.Kind != schema.Perf {
		return nil
	}
	d := p.data
	in := newAccesses(b, events, d.triggers)
	values := d.values(b)
	out := newDataRows(d)
	last, slot := dataKey{object: symbolize.None}, 0
	for i := range b.Stacks {
		if !counts(values, i) {
			continue
		}
		e := in.event(i, p.leaf(in.stacks[i]))
		e.Time = b.Times[i]
		found := p.space.Find(&e)
		k := dataKey{found.Object, found.Location, found.Method, found.Detail, found.Agreement, found.Embedding}
		if k != last {
			last, slot = k, d.slot(k)
		}
		for m, v := range values {
			if v != nil && v[i] != 0 {
				sum := &d.Sums[slot].PerMetric[m]
				sum.Value += v[i]
				sum.Samples++
			}
		}
		out.add(first+int64(i), &found)
	}
	return out.columns()
}

// leaf returns the PC of a recorded stack's leaf, 0 when there is none.
func (p *DataProcess) leaf(stack int32) uint64 {
	if stack < 0 {
		return 0
	}
	words := p.process.Stacks[stack].Words
	if len(words) == 0 || words[0] >= decode.MarkCall {
		return 0
	}
	return words[0]
}

// locations returns the instructions that accessed data objects, some more than
// once.
func (d *Data) locations() (list []symbolize.LocationNo) {
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

func (d *Data) slot(k dataKey) int {
	n, ok := d.sums[k]
	if !ok {
		n = len(d.Sums)
		d.sums[k] = n
		d.Sums = append(d.Sums, DataSum{k, make([]Sum, len(d.metrics))})
	}
	return n
}

// values returns by metric what each sample of the batch counts, 0 for those
// that do not; nil for metrics without data objects or of other kinds.
func (d *Data) values(b *Batch) [][]int64 {
	cols := &columns{batch: b, table: schema.SampleTable(b.Kind), ints: map[string][]int64{}}
	sources, numbers := sourcesOf(b)
	values := make([][]int64, len(d.metrics))
	for m := range d.metrics {
		metric := &d.metrics[m]
		source, ok := numbers[metric.Source]
		if !metric.Data || metric.Kind != b.Kind || !ok {
			continue
		}
		v := make([]int64, len(sources))
		var recorded []int64
		if metric.Value != "" {
			recorded = cols.get(metric.Value)
		}
		for i, s := range sources {
			switch {
			case s != source:
			case recorded == nil:
				v[i] = 1
			default:
				v[i] = recorded[i]
			}
		}
		values[m] = v
	}
	return values
}

func counts(values [][]int64, sample int) bool {
	for _, v := range values {
		if v != nil && v[sample] != 0 {
			return true
		}
	}
	return false
}
