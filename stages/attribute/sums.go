package attribute

import (
	"iter"

	"stackmill/schema"
)

// Sums adds up the metrics of samples per recorded stack, and per process,
// thread, CPU and second.
type Sums struct {
	Metrics []schema.Metric
	stacks  sumTable // by recorded stack
	usage   sumTable // by number in used
	used    []usageKey
	slots   map[usageKey]int32 // numbers in used, of the process that is read
	recent  [recentKeys]int32  // some of them, by place
}

// Sum is a metric's value and the number of samples that make it.
type Sum struct{ Value, Samples int64 }

// Usage is what one thread used on one CPU in one second, under one name and in one control
// group.
type Usage struct {
	Process      int32
	CPU, Second  int32
	Name, CGroup int32 // as schema.EventCommon has them
	Thread       int64
	Metric       int
	Sum
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

// NewSums returns empty sums of the metrics.
func NewSums(metrics []schema.Metric) *Sums {
	return &Sums{
		Metrics: metrics, stacks: newSumTable(len(metrics)), usage: newSumTable(len(metrics)),
		slots: map[usageKey]int32{},
	}
}

// Add implements Sink.
func (s *Sums) Add(b *Batch) error {
	slots := s.slotsOf(b)
	for _, c := range b.Counts {
		for i, v := range c.Values {
			if v != 0 {
				n := c.sample(i)
				s.stack(b.Stacks[n], c.Metric).add(v)
				s.usage.at(slots[n], c.Metric).add(v)
			}
		}
	}
	return nil
}

// add adds a sample of value v.
func (s *Sum) add(v int64) {
	s.Value += v
	s.Samples++
}

func (s *Sums) stack(n RecordedNo, m int) *Sum { return s.stacks.at(int32(n), m) }

// value returns the value of a metric of a recorded stack.
func (s *Sums) value(n RecordedNo, m int) int64 { return s.stacks.of(int32(n), m).Value }

// Each iterates over the metrics of which a recorded stack has samples, in ascending
// order.
func (s *Sums) Each(n RecordedNo) iter.Seq2[int, Sum] { return s.stacks.each(int32(n)) }

// Usage iterates over what threads used, in the order in which they were first seen.
func (s *Sums) Usage() iter.Seq[Usage] {
	return func(yield func(Usage) bool) {
		for i, k := range s.used {
			for m, sum := range s.usage.each(int32(i)) {
				if !yield(Usage{k.process, k.cpu, k.second, k.name, k.cgroup, k.thread, m, sum}) {
					return
				}
			}
		}
	}
}

// slotsOf finds the usage of each sample.
func (s *Sums) slotsOf(b *Batch) []int32 {
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
func (s *Sums) slot(k usageKey) int32 {
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
