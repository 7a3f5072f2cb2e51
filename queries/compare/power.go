package compare

import (
	"fmt"
	"math"

	"stackmill/queries"
	"stackmill/queries/rank"
)

// Shortfall is the number of runs that are missing for bounds of each judged row. Pairs counts pairs,
// or runs of each side for each block; the other numbers are for comparisons of all runs with all.
type Shortfall struct {
	Base     int `json:"base"`      // the smallest number of further runs on both sides: runs of the base,
	Test     int `json:"test"`      // and runs of the test
	TestOnly int `json:"test_only"` // further runs of the test alone; -1 if no number is enough
	Pairs    int `json:"pairs"`
}

// plan computes what the numbers of runs allow at the level of the intervals: how large a change must
// be to be found, and how many runs are missing.
func (c *comparison) plan() {
	n, m := len(c.Result.Base.Runs), len(c.Result.Test.Runs)
	switch {
	case n > 1 && m > 1:
		c.reach = rank.Reach(c.interval, n, m)
		c.shortfall = c.missingRuns(n, m)
	case c.sampled: // bounds come from the noise of sampling, which is almost normally distributed
		c.reach = (1 + math.Erfinv(2*rank.Power-1)/math.Erfinv(c.level)) / 2
		switch {
		case max(n, m) >= fewestOthers:
		case n > m:
			c.shortfall = Shortfall{Base: fewestOthers - n, TestOnly: -1}
		default:
			c.shortfall = Shortfall{Test: fewestOthers - m, TestOnly: fewestOthers - m}
		}
	default:
		c.reach = math.NaN()
		c.shortfall = c.missingRuns(n, m)
	}
}

// fewestOthers is the number of runs against which a single sampled run can be judged.
const fewestOthers = 3

func (c *comparison) missingRuns(n, m int) (s Shortfall) {
	switch d := &c.Design; {
	case d.Paired:
		s.Pairs = c.ranks.MorePairs(d.Blocks, c.level)
	case d.Blocks > 0:
		s.Pairs = c.ranks.MoreInBlocks(d.sizes(), c.level)
	default:
		s.Base, s.Test, s.TestOnly = c.ranks.MoreRuns(n, m, c.level)
	}
	return s
}

// Detectable returns the smallest ratio of a row that violates the limit (or, without a limit,
// exceeds 1) with the probability rank.Power. It is NaN if that is unknown.
func (j *Judgement) Detectable(row *Row) float64 {
	if j.oneOfFew() { // the interval has only the noise of sampling
		return math.NaN()
	}
	limit := 1.0
	if !math.IsNaN(j.Limit) {
		limit += j.Limit
	}
	return rank.Detectable(row.Low, row.High, limit, j.reach)
}

// Shortfall returns how many runs are missing for bounds of all judged rows.
func (j *Judgement) Shortfall() Shortfall { return j.shortfall }

// Needed describes the runs that are missing for bounds; it returns "" if none are missing.
func (j *Judgement) Needed() string {
	more := func(n int, thing string) string { return queries.Count(n, "more "+thing) }
	switch s := j.shortfall; {
	case s.Pairs > 0 && j.Design.Paired:
		return fmt.Sprintf("%s of runs with the same %s", more(s.Pairs, "pair"), j.Design.Key)
	case s.Pairs > 0:
		return fmt.Sprintf("%s of each side for each %s", more(s.Pairs, "run"), j.Design.Key)
	case s.Base == s.Test && s.Base > 0:
		return fmt.Sprintf("%s of each side", more(s.Base, "run")) + s.alternative()
	case s.Base > 0 && s.Test > 0:
		return fmt.Sprintf("%s of the base and %d of the test", more(s.Base, "run"), s.Test) + s.alternative()
	case s.Base > 0:
		return fmt.Sprintf("%s of the base", more(s.Base, "run")) + s.alternative()
	case s.Test > 0:
		return fmt.Sprintf("%s of the test", more(s.Test, "run"))
	}
	return ""
}

// alternative says how many runs of the test alone would be enough, because the base often cannot run
// again.
func (s *Shortfall) alternative() string {
	if s.TestOnly <= 0 {
		return ""
	}
	return fmt.Sprintf(", or %d of the test alone", s.TestOnly)
}

// tooFewRuns says why a row has no bounds.
func (j *Judgement) tooFewRuns() string {
	switch {
	case j.Needed() == "":
		return "no bounds: too many runs do not have it"
	case j.Design.Paired:
		return fmt.Sprintf("too few runs: %s", queries.Count(j.Design.Blocks, "pair"))
	}
	return fmt.Sprintf("too few runs: %d against %d", len(j.Base.Runs), len(j.Test.Runs))
}
