package compare

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"stackmill/queries"
	"stackmill/queries/rank"
)

// The values of Request.Block that are not keys.
const (
	BlockAuto = "auto" // a block for each host, if both sides have the same hosts and more than one
	BlockNone = "none" // no blocks
)

// Design determines which runs are compared with each other: all runs of both sides, the runs of each
// block, or the runs of each pair.
type Design struct {
	Key    string `json:"key"`    // label or column of experiments whose values are the blocks or pairs; empty: all runs are compared with all
	Paired bool   `json:"paired"` // whether each block is one pair of values
	Blocks int    `json:"blocks"` // number of blocks or pairs

	base, test [][]int // by block: indexes of its runs in the runs of the side
}

// checkKey validates a key of blocks or pairs: `label=KEY`, or the name of a label or column.
func checkKey(option, key string) error {
	if name, is := strings.CutPrefix(key, "label="); name == "" || !is && strings.Contains(key, "=") {
		return fmt.Errorf("%s: %q is not a key (write label=round, or a column of experiments, such as host)", option, key)
	}
	return nil
}

// autoBlocks is the p-value that blocks of hosts must be able to reach for BlockAuto to use them.
// With few runs on each host, blocks would find less than a comparison of all runs.
const autoBlocks = 0.001

// arrange chooses the design, and drops the runs without a partner on the other side.
func (c *comparison) arrange() error {
	switch {
	case c.Pair != "":
		return c.divide("--pair", c.Pair, true)
	case c.Block == BlockNone:
		return nil
	case c.Block != BlockAuto && c.Block != "":
		return c.divide("--block", c.Block, false)
	}
	hosts, err := c.keys("host")
	if err != nil {
		return err
	}
	base, test := hosts[:len(c.Result.Base.Runs)], hosts[len(c.Result.Base.Runs):]
	distinct := func(list []string) []string { return slices.Compact(slices.Sorted(slices.Values(list))) }
	if d := distinct(base); len(d) < 2 || slices.Contains(d, "") || !slices.Equal(d, distinct(test)) {
		return nil
	}
	if d, _ := c.group(hosts, false); d.smallest() > autoBlocks {
		return nil
	}
	return c.divide("--block", "host", false)
}

// divide makes blocks or pairs of the runs with the same value of a key.
func (c *comparison) divide(option, key string, paired bool) error {
	values, err := c.keys(key)
	if err != nil {
		return fmt.Errorf("%s: %w", option, err)
	}
	d, kept := c.group(values, paired)
	d.Key = strings.TrimPrefix(key, "label=")
	if d.Blocks == 0 {
		return fmt.Errorf("%s: no value of %s is on both sides (the base has %s; the test has %s)", option, d.Key,
			someValues(values[:len(c.Result.Base.Runs)]), someValues(values[len(c.Result.Base.Runs):]))
	}
	if n := len(values) - len(kept[0]) - len(kept[1]); n > 0 {
		verb := "are"
		if n == 1 {
			verb = "is"
		}
		c.warn("%s %s left out, because no run of the other side has the same %s", queries.Count(n, "run"), verb, d.Key)
	}
	c.Result.Base.Runs, c.Result.Test.Runs, c.Design = kept[0], kept[1], d
	return nil
}

// group returns the design in which runs with the same value form a block or pair, and the runs of
// each side that have a partner. Blocks with one run of each side are pairs.
func (c *comparison) group(values []string, paired bool) (d Design, kept [2][]queries.Experiment) {
	of := map[string]*[2][]queries.Experiment{}
	for n, v := range values {
		if of[v] == nil {
			of[v] = &[2][]queries.Experiment{}
		}
		side := c.side(int64(n))
		of[v][side] = append(of[v][side], c.runOf(n))
	}
	single := true
	for _, v := range slices.Sorted(maps.Keys(of)) {
		b := of[v]
		if v == "" || b[0] == nil || b[1] == nil {
			continue
		}
		for side, list := range [2]*[][]int{&d.base, &d.test} {
			var at []int
			for _, e := range b[side] {
				at = append(at, len(kept[side]))
				kept[side] = append(kept[side], e)
			}
			*list = append(*list, at)
			single = single && len(at) == 1
		}
		d.Blocks++
	}
	d.Paired = paired || single
	return d, kept
}

// someValues lists some of the values of a key, for people.
func someValues(values []string) string {
	list := slices.Compact(slices.Sorted(slices.Values(values)))
	return cmp.Or(Few(slices.DeleteFunc(list, func(v string) bool { return v == "" })), "none")
}

// keys returns each run's value of a key, "" if the run has none. The key names a label, or a column
// of experiments if no run has a label with that name.
func (c *comparison) keys(key string) ([]string, error) {
	name, label := strings.CutPrefix(key, "label=")
	values := make([]string, len(c.Result.Base.Runs)+len(c.Result.Test.Runs))
	for n := range values {
		v, has := c.runOf(n).Labels[name]
		values[n], label = v, label || has
	}
	if label || !queries.IsColumn(name) {
		if !slices.ContainsFunc(values, func(v string) bool { return v != "" }) {
			return nil, fmt.Errorf("no run has a label %s", name)
		}
		return values, nil
	}
	records, err := c.db.Records(c.ctx, "WITH "+c.runTable()+` SELECT n, COALESCE(e."`+name+`"::VARCHAR, '') AS value FROM experiments e JOIN runs USING (experiment_id)`)
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		values[r.Number("n")] = r.Text("value")
	}
	return values, nil
}

// blocks returns the values of each block.
func (d *Design) blocks(base, test []float64) []rank.Block {
	list := make([]rank.Block, d.Blocks)
	for i := range list {
		for _, n := range d.base[i] {
			list[i].X = append(list[i].X, base[n])
		}
		for _, n := range d.test[i] {
			list[i].Y = append(list[i].Y, test[n])
		}
	}
	return list
}

// pairs returns the values of each pair. The value of a side is the value of its run, or the median
// of several runs.
func (d *Design) pairs(base, test []float64) (x, y []float64) {
	for _, b := range d.blocks(base, test) {
		slices.Sort(b.X)
		slices.Sort(b.Y)
		x, y = append(x, rank.Median(b.X)), append(y, rank.Median(b.Y))
	}
	return x, y
}

// p returns the p-value of two groups of values, tested according to the design.
func (c *comparison) p(base, test []float64) float64 {
	switch d := &c.Design; {
	case d.Paired:
		return c.ranks.PairsP(d.pairs(base, test))
	case d.Blocks > 0:
		return c.ranks.BlocksP(d.blocks(base, test))
	}
	return c.ranks.P(base, test)
}

// interval returns the confidence interval of the ratio of two groups of values.
func (c *comparison) interval(base, test []float64) (low, high float64) {
	switch d := &c.Design; {
	case d.Paired:
		x, y := d.pairs(base, test)
		return c.ranks.PairsInterval(x, y, c.level)
	case d.Blocks > 0:
		return c.ranks.BlocksInterval(d.blocks(base, test), c.level)
	}
	return c.ranks.RatioInterval(base, test, c.level)
}

// ratio returns the ratio of two groups of values: the ratio of the medians, or the median of the
// ratios within blocks or pairs.
func (c *comparison) ratio(base, test []float64) float64 {
	switch d := &c.Design; {
	case d.Paired:
		return rank.PairsRatio(d.pairs(base, test))
	case d.Blocks > 0:
		return rank.BlocksRatio(d.blocks(base, test))
	}
	return rank.Median(slices.Sorted(slices.Values(test))) / rank.Median(slices.Sorted(slices.Values(base)))
}

// smallest returns the smallest p-value that the design allows.
func (c *comparison) smallest() float64 {
	if c.Design.Blocks > 0 {
		return c.Design.smallest()
	}
	return rank.Smallest(len(c.Result.Base.Runs), len(c.Result.Test.Runs))
}

// smallest returns the smallest p-value that blocks or pairs allow.
func (d *Design) smallest() float64 {
	if d.Paired {
		return rank.SmallestPaired(d.Blocks)
	}
	return rank.SmallestBlocked(d.sizes())
}

// sizes returns the numbers of runs of both sides for each block.
func (d *Design) sizes() (sizes [][2]int) {
	for i := range d.Blocks {
		sizes = append(sizes, [2]int{len(d.base[i]), len(d.test[i])})
	}
	return sizes
}
