package samples

import (
	"iter"

	"stackmill/schema"
	"stackmill/stages/attribute"
)

// UsageSums adds up the metrics of samples per recorded stack, and per process,
// thread, CPU and second.
type UsageSums struct {
	*attribute.Sums
	usage  attribute.SumTable // by number in used
	used   []usageKey
	slots  map[usageKey]int32 // numbers in used, of the process that is read
	recent [recentKeys]int32  // some of them, by place
}

// Usage is what one thread used on one CPU in one second, under one name and in one control
// group.
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

// recentKeys is for how many keys the last numbers are kept: samples of a few threads
// take turns.
const recentKeys = 64

// place is where a key's number may be among the recent ones.
func (k *usageKey) place() int { return int(k.thread*31+int64(k.cpu)) & (recentKeys - 1) }

// NewUsageSums returns empty sums of the metrics.
func NewUsageSums(metrics []schema.Metric) *UsageSums {
	return &UsageSums{Sums: attribute.NewSums(metrics), usage: attribute.NewSumTable(len(metrics)), slots: map[usageKey]int32{}}
}

// Add implements Sink.
func (s *UsageSums) Add(b *Batch) error {
	slots := s.slotsOf(b)
	for _, c := range b.Counts {
		for i, v := range c.Values {
			if v != 0 {
				n := c.sample(i)
				s.At(b.Stacks[n], c.Metric).Add(v)
				s.usage.At(slots[n], c.Metric).Add(v)
			}
		}
	}
	return nil
}

// Usage iterates over what threads used, in the order in which they were first seen.
func (s *UsageSums) Usage() iter.Seq[Usage] {
	return func(yield func(Usage) bool) {
		for i, k := range s.used {
			for m, sum := range s.usage.Each(int32(i)) {
				if !yield(Usage{k.process, k.cpu, k.second, k.name, k.cgroup, k.thread, m, sum}) {
					return
				}
			}
		}
	}
}

// slotsOf finds the usage of each sample.
func (s *UsageSums) slotsOf(b *Batch) []int32 {
	slots := make([]int32, len(b.Stacks))
	if last := len(s.used) - 1; last >= 0 && s.used[last].process != int32(b.Process) {
		clear(s.slots)
	}
	for i := range slots {
		k := usageKey{b.Threads[i], int32(b.Process), b.CPUs[i], int32(floorDiv(b.Times[i], 1e9)), b.Names[i], b.CGroups[i]}
		slot := &s.recent[k.place()]
		if int(*slot) >= len(s.used) || s.used[*slot] != k {
			*slot = s.slot(k)
		}
		slots[i] = *slot
	}
	return slots
}

// slot returns the number of a key, which is new if need be.
func (s *UsageSums) slot(k usageKey) int32 {
	slot, ok := s.slots[k]
	if !ok {
		slot = int32(len(s.used))
		s.slots[k] = slot
		s.used = append(s.used, k)
	}
	return slot
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// UsageRows emits them. cgroups are the names of control groups.
func (s *UsageSums) UsageRows(r *attribute.Result, emit attribute.Emit, cgroups []string) error {
	rows := r.Rows(schema.UsageValues, emit).Labels("cgroup", cgroups...)
	for u := range s.Usage() {
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
