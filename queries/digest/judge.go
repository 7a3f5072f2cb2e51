package digest

import (
	"cmp"
	"maps"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"stackmill/queries/rank"
)

// Series has the values of the functions of one program over its nights. All its experiments have
// the same program, command, events and kind of machine.
type Series struct {
	Name    string // unique in a digest
	Program string
	Metric  string
	Nights  []Night    // in their order
	Groups  []Group    // by night and host
	Items   []Function // <Total> first
}

// Night is one value of the order in which a series is followed, for example a date.
type Night struct {
	Name string // 2026-11-28, or the value of a label
	At   int    // its place in the order of all nights of the digest
	Runs int
}

// Group holds the runs of one night on one host.
type Group struct {
	Night int // index of the series' night
	Host  string
	Runs  int
}

// Function is a function, or <Total>, with its values in a series.
type Function struct {
	Key                  int64
	Name, Object, Module string
	onlyInBuild          bool      // its key is that of one build
	Values               []float64 // by group: the mean of the runs; 0 where no run has the function
	nights               []float64 // by night, without the changes that all series of a host, or all functions, have in common
	measured             []float64 // nights with the changes that all functions have in common; nil if that is the same as nights
}

// Options are the settings of Judge.
type Options struct {
	Since    int     // changes before this place in the order of nights are not reported
	MinShare float64 // functions with a smaller share of <Total> are not judged
	// Chance bounds the probability that a series has a sure change although nothing changed, and
	// FDR the share of false ones among all sure changes.
	Chance, FDR float64
}

// Change is a change of a function, or of <Total>, in a series.
type Change struct {
	*Function
	rank.Step
	State rank.State
	From  int     // index of the first night after the change, in the series
	Q     float64 // P, corrected for all functions of the series
	tests int     // number of comparisons by which Q is corrected: places and functions
	// Ratio is the level after the change relative to the one before, infinite if that is 0, and
	// Low and High its confidence interval, NaN if the level before is 0.
	Ratio, Low, High float64
	Impact           float64 // difference of the levels in relation to the usual <Total>, or to <Total> of the nights that have any
}

// Verdict is the result of judging a series.
type Verdict struct {
	*Series
	State   rank.State // of the most certain change; "" if there is none
	Changes []Change   // the changes that are certain or may be real; the most certain and largest first
	Shared  []Change   // the changes since a night on which many series changed
	Noise   float64    // standard deviation of <Total> from night to night, relative to its level
	Short   bool       // the series has too few nights
}

// Common is a change that all series of a host have in common, whatever its cause.
type Common struct {
	Host          string
	Series        int // number of series on the host
	From          Night
	State         rank.State
	Before, After float64 // levels of the values, relative to the usual level
}

// Judge finds the changes of series. It returns the changes that the series of a host have in common
// separately, and divides them out of the values of each series.
func Judge(all []*Series, o Options) ([]*Verdict, []Common) {
	factors, common := commonFactors(all, &rank.Test{}, o)
	verdicts := make([]*Verdict, len(all))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			test := &rank.Test{}
			for i := int(next.Add(1)) - 1; i < len(all); i = int(next.Add(1)) - 1 {
				verdicts[i] = &Verdict{Series: all[i]}
				verdicts[i].judge(test, factors, o)
			}
		})
	}
	workers.Wait()
	discover(verdicts, o)
	return verdicts, common
}

// judge finds the changes of a series, without control of false discoveries over all series.
func (v *Verdict) judge(test *rank.Test, factors map[place]float64, o Options) {
	if v.Short = len(v.Nights) <= rank.LeastBefore; v.Short {
		return
	}
	for i := range v.Items {
		v.Items[i].level(v.Series, factors)
	}
	total := v.Items[0].nights
	whole := rank.Median(slices.Sorted(slices.Values(total)))
	if whole == 0 {
		some := slices.DeleteFunc(slices.Sorted(slices.Values(total)), func(v float64) bool { return v == 0 })
		if len(some) == 0 { // nothing was recorded, so nothing changed
			return
		}
		whole = rank.Median(some)
	}
	var tested []*Function
	for i := range v.Items {
		f := &v.Items[i]
		if i == 0 || f.matters(total, o.MinShare) {
			tested = append(tested, f)
		}
	}
	v.keepPace(tested)
	for _, f := range tested {
		v.Changes = append(v.Changes, v.changes(test, f, o.Since, len(tested))...)
	}
	for i := range v.Changes {
		c := &v.Changes[i]
		c.Impact = (c.After - c.Before) / whole
	}
	v.Noise = noise(total)
}

// level computes the values by night from the values by group.
func (f *Function) level(s *Series, factors map[place]float64) {
	f.nights = make([]float64, len(s.Nights))
	for g, group := range s.Groups {
		value := f.Values[g]
		if by, some := factors[place{s.Nights[group.Night].At, group.Host}]; some {
			value /= by
		}
		f.nights[group.Night] += value * float64(group.Runs) / float64(s.Nights[group.Night].Runs)
	}
}

// matters reports whether the function has at least a share of <Total> in one of two halves of the
// newest nights, so that it may have carried a change.
func (f *Function) matters(total []float64, share float64) bool {
	for n, v := range f.nights {
		if v >= share*total[n] && v > 0 && n > 0 && f.nights[n-1] >= share*total[n-1] {
			return true
		}
	}
	last := len(total) - 1
	return f.nights[last] >= share*total[last] && f.nights[last] > 0
}

// leastPlaces is the smallest number of places that the correction of a p-value assumes: that many
// numbers of newest values are tried.
const leastPlaces = 10

// changes returns the changes of a function since a place in the order of nights.
func (v *Verdict) changes(test *rank.Test, f *Function, since, tested int) (list []Change) {
	values := f.nights
	if !suspicious(values) {
		return nil
	}
	found := test.Changes(values)
	told, _ := slices.BinarySearchFunc(v.Nights, since, func(n Night, at int) int { return n.At - at })
	places := max(len(values)-told, leastPlaces) // the places that were tried, among those that are reported
	for i, c := range found {
		from, to := 0, len(values)
		if i > 0 {
			from = found[i-1].At
		}
		if i+1 < len(found) {
			to = found[i+1].At
		}
		if v.Nights[c.At].At < since || c.At-from < rank.LeastBefore {
			continue
		}
		step := test.Compare(values[from:c.At], values[c.At:to])
		step.P = min(1, step.P*float64(places))
		q := min(1, step.P*float64(tested))
		if q > rank.MaybeChance || f.contradicted(test, step, from, c.At, to) {
			continue
		}
		low, high := step.Interval(0.95)
		list = append(list, Change{Function: f, Step: step, State: rank.Maybe, From: c.At, Q: q, tests: places * tested, Ratio: ratio(step), Low: low, High: high})
	}
	return list
}

func ratio(s rank.Step) float64 {
	if s.Before == 0 {
		return math.Inf(1)
	}
	return s.After / s.Before
}

// suspicious reports whether a series may have a change. It is a quick test; a series fails it only
// if no change can be found in the series.
func suspicious(values []float64) bool {
	var off []float64
	for i := 1; i < len(values); i++ {
		off = append(off, math.Abs(values[i]-values[i-1]))
	}
	slices.Sort(off)
	deviation := rank.Median(off) / (0.6745 * math.Sqrt2)
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	before := 0.0
	for i := 1; i < len(values); i++ {
		before += values[i-1]
		n, m := float64(i), float64(len(values)-i)
		if math.Abs(before/n-(sum-before)/m) > 3*deviation*math.Sqrt(1/n+1/m) {
			return true
		}
	}
	return false
}

// noise returns the standard deviation of the steps between nights, relative to their level. A
// change of the level hardly matters.
func noise(values []float64) float64 {
	var off []float64
	for i := 1; i < len(values); i++ {
		off = append(off, math.Abs(values[i]-values[i-1]))
	}
	slices.Sort(off)
	level := rank.Median(slices.Sorted(slices.Values(values)))
	if level == 0 {
		return 0
	}
	return rank.Median(off) / (0.6745 * math.Sqrt2) / level
}

// discover marks the changes that are sure. False discoveries are controlled over all series
// (Benjamini and Hochberg), where a series counts once, with its most significant change.
func discover(verdicts []*Verdict, o Options) {
	var least []float64
	for _, v := range verdicts {
		if q := v.smallest(); !v.Short {
			least = append(least, q)
		}
	}
	slices.Sort(least)
	limit := 0.0
	for i, q := range least {
		if bound := o.FDR * float64(i+1) / float64(len(least)); q <= bound {
			limit = bound
		}
	}
	limit = min(limit, o.Chance)
	for _, v := range verdicts {
		for i := range v.Changes {
			if c := &v.Changes[i]; c.Q <= limit && c.Sure(c.P) {
				c.State = rank.Sure
			}
			if c := v.Changes[i]; v.State != rank.Sure {
				v.State = c.State
			}
		}
		slices.SortStableFunc(v.Changes, func(a, b Change) int {
			return cmp.Or(cmp.Compare(b.State, a.State), cmp.Compare(math.Abs(b.Impact), math.Abs(a.Impact)))
		})
	}
}

// smallest returns the smallest corrected p-value of the series.
func (v *Verdict) smallest() float64 {
	q := 1.0
	for _, c := range v.Changes {
		q = min(q, c.Q)
	}
	return q
}

// byImpact orders verdicts by the size of the first change.
func (v *Verdict) byImpact(w *Verdict) int {
	return cmp.Or(cmp.Compare(math.Abs(w.Changes[0].Impact), math.Abs(v.Changes[0].Impact)), cmp.Compare(v.Name, w.Name), cmp.Compare(v.Metric, w.Metric))
}

// bySignificance orders verdicts by their smallest p-value.
func (v *Verdict) bySignificance(w *Verdict) int {
	return cmp.Or(cmp.Compare(v.smallest(), w.smallest()), v.byImpact(w))
}

// Limits above which changes that begin in one night are reported together.
const (
	manyTogether  = 5
	shareTogether = 0.2
)

// together finds the nights since which many series have a change, and moves these changes to
// Shared, because they probably have one cause, such as another compiler.
func together(verdicts []*Verdict) (list []Together) {
	changed, of := map[int][]*Verdict{}, map[int]int{}
	names := map[int]Night{}
	for _, v := range verdicts {
		seen := map[int]bool{}
		for _, c := range v.Changes {
			if night := v.Nights[c.From]; c.State == rank.Sure && !seen[night.At] {
				seen[night.At], names[night.At] = true, night
				changed[night.At] = append(changed[night.At], v)
			}
		}
		for _, n := range v.Nights[min(1, len(v.Nights)):] {
			of[n.At]++
		}
	}
	for _, at := range slices.Sorted(maps.Keys(changed)) {
		if n := len(changed[at]); n < manyTogether || float64(n) < shareTogether*float64(of[at]) {
			continue
		}
		var ratios []float64
		for _, v := range changed[at] {
			if ratio := v.totalRatio(at); !math.IsNaN(ratio) && !math.IsInf(ratio, 0) {
				ratios = append(ratios, ratio)
			}
		}
		if ratios == nil { // all series had no values before
			continue
		}
		t := Together{Night: names[at], Series: len(changed[at]), Of: of[at]}
		for _, v := range verdicts {
			if shared := v.share(at); shared != nil && shared[0].State != rank.Sure {
				t.Perhaps++
			}
		}
		for _, v := range changed[at] {
			t.Most = append(t.Most, &Finding{Verdict: v})
		}
		t.Middle = rank.Median(slices.Sorted(slices.Values(ratios)))
		slices.SortStableFunc(t.Most, func(a, b *Finding) int {
			return cmp.Compare(math.Abs(b.SharedSince(t.Night)[0].Impact), math.Abs(a.SharedSince(t.Night)[0].Impact))
		})
		list = append(list, t)
	}
	return list
}

// SharedSince returns the changes of Shared since a night: the sure ones first, then by impact.
func (v *Verdict) SharedSince(night Night) (list []Change) {
	for _, c := range v.Shared {
		if v.Nights[c.From].At == night.At {
			list = append(list, c)
		}
	}
	return list
}

// share moves the changes since a night to Shared, and returns them.
func (v *Verdict) share(at int) (moved []Change) {
	v.Changes = slices.DeleteFunc(v.Changes, func(c Change) bool {
		is := v.Nights[c.From].At == at
		if is {
			moved = append(moved, c)
		}
		return is
	})
	v.Shared = append(v.Shared, moved...)
	v.State = ""
	if len(v.Changes) > 0 {
		v.State = v.Changes[0].State
	}
	return moved
}

// totalRatio returns the ratio of <Total> since a night to <Total> before it.
func (v *Verdict) totalRatio(at int) float64 {
	from, _ := slices.BinarySearchFunc(v.Nights, at, func(n Night, at int) int { return n.At - at })
	total := v.Items[0].nights
	before, after := slices.Sorted(slices.Values(total[:from])), slices.Sorted(slices.Values(total[from:]))
	return rank.Median(after) / rank.Median(before)
}
