package verify

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"stackmill/schema"
)

// countedColumns returns the columns of the samples of a kind from which metrics are computed.
func countedColumns(k schema.Kind) (list []column) {
	add := func(c column) {
		if c.name != "" && c.name != "thread_id" && !slices.ContainsFunc(list, func(o column) bool { return o.name == c.name }) {
			list = append(list, c)
		}
	}
	source := k.Traits().Source
	if add(column{name: source}); k.Traits().Metrics != nil {
		for _, m := range k.Traits().Metrics("", "", "") {
			add(column{name: m.Value})
			if m.Name != "" { // a metric that counts samples
				list = append(list, column{name: source, of: func(text string) int64 { return hash(text + m.Name) }})
			}
		}
	}
	for _, m := range schema.Declared {
		part := m.Of(k)
		if part == nil {
			continue
		}
		add(column{name: part.Value})
		for _, all := range part.Where {
			for _, c := range all {
				add(column{name: c.Column})
			}
		}
	}
	return list
}

// counter computes the metrics of the samples of a kind.
type counter struct {
	table   *schema.Table
	rows    *rows
	at      int
	sources []source
	metrics []declaredMetric
}

// source describes a column that has the name of the metric for which each sample counts.
type source struct {
	name  int // index of the column
	value int // column; -1 if each sample counts 1
}

// declaredMetric is a metric with a fixed name: which samples count, and with which value.
type declaredMetric struct {
	metric int32
	value  int // column; -1 if each sample counts 1
	where  [][]condition
}

type condition struct {
	column int // index of the column; -1: the sample's thread
	not    bool
	values []int64
}

func (x *experiment) counter(k schema.Kind) *counter {
	t := schema.SampleTable(k)
	c := &counter{table: t, rows: x.rows[t]}
	c.rows.clear()
	if s := k.Traits().Source; s != "" {
		first := x.index(t, s)
		c.sources = append(c.sources, source{first, x.index(t, "value")})
		for i := first + 1; i < len(x.columns[t]); i++ {
			if x.columns[t][i].name == s {
				c.sources = append(c.sources, source{i, -1})
			}
		}
	}
	for _, m := range schema.Declared {
		number, known := x.metrics[hash(m.Name)]
		part := m.Of(k)
		if part == nil || !known {
			continue
		}
		one := declaredMetric{metric: number, value: -1}
		if part.Value != "" {
			one.value = x.index(t, part.Value)
		}
		for _, all := range part.Where {
			var conds []condition
			for _, w := range all {
				column := -1
				if w.Column != "thread_id" {
					column = x.index(t, w.Column)
				}
				conds = append(conds, condition{column, w.Not, w.Values})
			}
			one.where = append(one.where, conds)
		}
		c.metrics = append(c.metrics, one)
	}
	return c
}

// applies reports whether sample i counts for the metric.
func (m *declaredMetric) applies(r *rows, i int, thread int64) bool {
	for _, all := range m.where {
		if !slices.ContainsFunc(all, func(c condition) bool {
			v := thread
			if c.column >= 0 {
				v = r.values[c.column][i]
			}
			return slices.Contains(c.values, v) == c.not
		}) {
			return true
		}
	}
	return len(m.where) == 0
}

// count calls add for each metric for which the current sample (c.at) counts.
func (c *counter) count(metrics map[int64]int32, thread int64, add func(metric int32, value int64)) {
	i := c.at
	for _, s := range c.sources {
		v := int64(1)
		if s.value >= 0 {
			v = c.rows.values[s.value][i]
		}
		if m, known := metrics[c.rows.values[s.name][i]]; known && v != 0 {
			add(m, v)
		}
	}
	for k := range c.metrics {
		m := &c.metrics[k]
		v := int64(1)
		if m.value >= 0 {
			v = c.rows.values[m.value][i]
		}
		if v != 0 && m.applies(c.rows, i, thread) {
			add(m.metric, v)
		}
	}
}

// usage is the key of a row of usage_values.
type usage struct {
	metric                       int32
	process, thread, cpu, second int64
	name, cgroup                 int64
}

// usageSum is the difference between a row of usage_values and the samples read so far.
type usageSum struct{ value, samples int64 }

// checkSamples checks that each sample of a kind is in the table samples, and that the samples add
// up to stack_values and usage_values.
func (x *experiment) checkSamples() error {
	if err := x.stackValues(); err != nil {
		return err
	}
	usages := map[usage]usageSum{}
	if err := x.usageValues(usages); err != nil {
		return err
	}
	counters := map[int64]*counter{}
	for k := range schema.Kinds {
		counters[hash(k.String())] = x.counter(k)
	}
	left := make([][]int64, len(x.metrics)) // what the remaining samples must add up to
	counts := make([][]int64, len(x.metrics))
	for m := range left {
		left[m], counts[m] = slices.Clone(x.stacks.value[m]), slices.Clone(x.stacks.counts[m])
	}
	t, last := schema.Samples, int64(-1)
	r := x.rows[t]
	for {
		if err := x.next(t, r); err != nil || r.n == 0 {
			if err != nil {
				return err
			}
			break
		}
		numbers, kinds, stacks := x.col(t, "sample"), x.col(t, "kind"), x.col(t, "stack")
		processes, threads, cpus, times := x.col(t, "process"), x.col(t, "thread_id"), x.col(t, "cpu"), x.col(t, "time_ns")
		names, cgroups := x.col(t, "name_no"), x.col(t, "cgroup")
		if slices.Contains(r.values[x.index(t, "cgroup")+1], 1) && !slices.Contains(x.col(schema.Problems, "reason"), hash("unnamed-cgroup")) {
			return errors.New("samples: a control group has no path, and no problem says so")
		}
		for i, n := range numbers {
			c := counters[kinds[i]]
			if n <= last || c == nil {
				return errors.New("samples: a sample is out of order, or of an unknown kind")
			}
			last = n
			if found, err := x.advance(c, n); err != nil {
				return err
			} else if !found {
				continue
			}
			ok, of := true, usage{0, processes[i], threads[i], cpus[i], floor(times[i]), names[i], cgroups[i]}
			c.count(x.metrics, threads[i], func(m int32, v int64) {
				if ok = ok && stacks[i] >= 0 && stacks[i] < int64(len(left[m])); ok {
					left[m][stacks[i]] -= v
					counts[m][stacks[i]]--
					of.metric = m
					u := usages[of]
					usages[of] = usageSum{u.value - v, u.samples - 1}
				}
			})
			if c.at++; !ok {
				return errors.New("samples: a stack is unknown")
			}
		}
	}
	for _, c := range counters {
		if found, err := x.more(c); found || err != nil {
			return errors.Join(err, fmt.Errorf("%s: a sample is of another kind", c.table.Name))
		}
	}
	return x.checkDifferences(left, counts, usages)
}

// noPath returns 1 if the name of a control group is not a path.
func noPath(name string) int64 {
	if strings.HasPrefix(name, "/") {
		return 0
	}
	return 1
}

func floor(ns int64) int64 {
	s := ns / 1e9
	if ns%1e9 < 0 {
		s--
	}
	return s
}

// more reports whether there is another sample of a kind. It reads more if all that were read are
// counted.
func (x *experiment) more(c *counter) (bool, error) {
	if c.at == c.rows.n {
		c.at = 0
		if err := x.next(c.table, c.rows); err != nil {
			return false, err
		}
	}
	return c.at < c.rows.n, nil
}

// advance reports whether the sample with this number is the next one of the counter's kind.
func (x *experiment) advance(c *counter, sample int64) (bool, error) {
	found, err := x.more(c)
	if !found || err != nil {
		return false, err
	}
	next := c.rows.values[1][c.at]
	if next < sample {
		return false, fmt.Errorf("%s: a sample is of another kind", c.table.Name)
	}
	return next == sample, nil
}

func (x *experiment) checkDifferences(left, counts [][]int64, usages map[usage]usageSum) error {
	for m := range left {
		for s := range left[m] {
			if left[m][s] != 0 || counts[m][s] != 0 {
				return errors.New("stack_values: a value differs from the sum of the samples")
			}
		}
	}
	for _, u := range usages {
		if u != (usageSum{}) {
			return errors.New("usage_values: a value differs from the sum of the samples")
		}
	}
	return nil
}

func (x *experiment) stackValues() error {
	n := len(x.stacks.leaf[0])
	x.stacks.value, x.stacks.counts = make([][]int64, len(x.metrics)), make([][]int64, len(x.metrics))
	for m := range x.stacks.value {
		x.stacks.value[m], x.stacks.counts[m] = make([]int64, n), make([]int64, n)
	}
	t := schema.StackValues
	values, samples, reasons := x.col(t, "value"), x.col(t, "samples"), x.col(schema.RecordedStacks, "reason")
	metrics := x.col(t, "metric")
	for i, s := range x.col(t, "stack") {
		m, known := x.metrics[metrics[i]]
		if !known || s < 0 || s >= int64(n) {
			return errors.New("stack_values: a metric or stack is unknown")
		}
		for mode := range modes {
			if x.stacks.leaf[mode][s] == 0 && reasons[s] == none {
				return errors.New("recorded_stacks: a stack is empty without a reason")
			}
		}
		x.stacks.value[m][s], x.stacks.counts[m][s] = values[i], samples[i]
	}
	return nil
}

func (x *experiment) usageValues(usages map[usage]usageSum) error {
	processes := set(x.col(schema.Processes, "process"))
	t := schema.UsageValues
	metrics, processOf, threads, cpus, seconds := x.col(t, "metric"), x.col(t, "process"), x.col(t, "thread_id"), x.col(t, "cpu"), x.col(t, "second")
	names, cgroups := x.col(t, "name_no"), x.col(t, "cgroup")
	values, samples := x.col(t, "value"), x.col(t, "samples")
	for i := range values {
		m, known := x.metrics[metrics[i]]
		if !known || !processes[processOf[i]] {
			return errors.New("usage_values: a metric or process is unknown")
		}
		of := usage{m, processOf[i], threads[i], cpus[i], seconds[i], names[i], cgroups[i]}
		usages[of] = usageSum{usages[of].value + values[i], usages[of].samples + samples[i]}
	}
	return nil
}
