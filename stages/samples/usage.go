package samples

import (
	"iter"

	"stackmill/internal/memo"
	"stackmill/schema"
	"stackmill/stages/attribute"
)

// UsageSums sums the metrics of samples twice: by recorded stack, and by process, thread, CPU and
// second.
type UsageSums struct {
	*attribute.Sums
	usage  attribute.SumTable // the sums of keys[i] are at index i
	keys   []usageKey
	slots  map[usageKey]int32 // indices in keys, of the current process
	recent [recentKeys]int32  // indices in keys, by usageKey.recentIndex
}

// Usage is the sum of a metric for one thread, on one CPU, in one second, under one name and in
// one control group.
type Usage struct {
	Process      int32
	CPU, Second  int32
	Name, CGroup int32 // as schema.EventCommon has them
	Thread       int64
	Metric       int
	attribute.Sum
}

type usageKey struct {
	thread               int64
	process, cpu, second int32
	name, cgroup         int32
}

// recentKeys is the size of the cache in front of the map of keys: usually, samples of few threads
// alternate.
const recentKeys = 64

// recentIndex returns the index in UsageSums.recent where the key may be.
func (k *usageKey) recentIndex() int { return int(k.thread*31+int64(k.cpu)) & (recentKeys - 1) }

// NewUsageSums returns sums of metrics, without samples.
func NewUsageSums(metrics []schema.Metric) *UsageSums {
	return &UsageSums{Sums: attribute.NewSums(metrics), usage: attribute.NewSumTable(len(metrics)), slots: map[usageKey]int32{}}
}

// Add implements Sink.
func (s *UsageSums) Add(b *Batch) error {
	slots := s.slotsOf(b)
	for _, c := range b.Counts {
		for i, v := range c.Values {
			if v != 0 {
				n := c.index(i)
				s.At(b.Stacks[n], c.Metric).Add(v)
				s.usage.At(slots[n], c.Metric).Add(v)
			}
		}
	}
	return nil
}

// Usage iterates over the sums by thread, CPU and second, in the order of their first samples.
func (s *UsageSums) Usage() iter.Seq[Usage] {
	return func(yield func(Usage) bool) {
		for i, k := range s.keys {
			for m, sum := range s.usage.Each(int32(i)) {
				if !yield(Usage{k.process, k.cpu, k.second, k.name, k.cgroup, k.thread, m, sum}) {
					return
				}
			}
		}
	}
}

// slotsOf returns, for each sample, the index of its key in keys.
func (s *UsageSums) slotsOf(b *Batch) []int32 {
	slots := make([]int32, len(b.Stacks))
	if last := len(s.keys) - 1; last >= 0 && s.keys[last].process != int32(b.Process) {
		clear(s.slots)
	}
	for i := range slots {
		k := usageKey{b.Threads[i], int32(b.Process), b.CPUs[i], int32(floorDiv(b.Times[i], 1e9)), b.Names[i], b.CGroups[i]}
		slot := &s.recent[k.recentIndex()]
		if int(*slot) >= len(s.keys) || s.keys[*slot] != k {
			*slot = memo.Get(s.slots, k, func() int32 {
				s.keys = append(s.keys, k)
				return int32(len(s.keys) - 1)
			})
		}
		slots[i] = *slot
	}
	return slots
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// UsageRows emits the sums by thread, CPU and second. cgroups are the names of control groups.
func (s *UsageSums) UsageRows(r *attribute.Result, emit attribute.Emit, cgroups []string) error {
	rows := r.Rows(schema.UsageValues, emit).Labels("cgroup", cgroups...)
	for u := range s.Usage() {
		rows.Int32(u.Process).Int64(u.Thread).Int32(u.Name).Int32If(u.CGroup >= 0, u.CGroup)
		rows.Int32(u.CPU).Int32(u.Second).Label(u.Metric).Int64(u.Value).Int64(u.Samples)
	}
	return rows.Close()
}
