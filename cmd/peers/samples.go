package main

import (
	"fmt"
	"path/filepath"
	"regexp"

	"stackmill/cmd/acceptance/perftext"
)

// eventName is an event, and a name whose values are compared for that event.
type eventName struct {
	event string
	name  name
}

// reportRow identifies a row of `perf report` about an event.
type reportRow struct{ event, object, symbol string }

// samples compares all samples of a recording with perf's. Both sides have the samples of a thread
// and event in the same order.
func (c *comparison) samples(theirs []perftext.Sample) error {
	type line struct {
		thread int64
		event  string
	}
	ours := map[line][]sample{}
	for _, s := range c.content.samples {
		l := line{s.thread, s.event}
		ours[l] = append(ours[l], s)
	}
	if len(theirs) != len(c.content.samples) {
		return fmt.Errorf("%d samples, perf has %d", len(c.content.samples), len(theirs))
	}
	for i, p := range theirs {
		l := line{p.Thread, p.Event}
		if len(ours[l]) == 0 {
			return fmt.Errorf("perf's sample %d, thread %d, event %s: there is none of the store's", i, p.Thread, p.Event)
		}
		s := ours[l][0]
		ours[l] = ours[l][1:]
		if s.value != p.Period {
			return fmt.Errorf("perf's sample %d, thread %d: period %d, perf has %d", i, p.Thread, s.value, p.Period)
		}
		c.count(&s, &p)
	}
	return nil
}

// count adds a sample to the verdicts on all functions on its stacks.
func (c *comparison) count(s *sample, p *perftext.Sample) {
	d := c.difference(p.Chain, p.Corrupt, s.stack)
	for n := range d.ours {
		v := c.verdict(s.event, n)
		v.ours.inclusive += s.value
	}
	for n := range d.theirs {
		v := c.verdict(s.event, n)
		v.theirs.inclusive += s.value
	}
	c.verdict(s.event, d.ourLeaf).ours.exclusive += s.value
	c.verdict(s.event, d.theirLeaf).theirs.exclusive += s.value
	for n, why := range d.inclusive {
		c.verdict(s.event, n).differs(why, "inclusive", s, p, d)
	}
	for n, why := range d.exclusive {
		c.verdict(s.event, n).differs(why, "exclusive", s, p, d)
	}
	for _, n := range d.aliases {
		c.verdict(s.event, n).rules["S4"]++
	}
	seen := map[reportRow]bool{}
	for i, f := range p.Chain {
		k := reportRow{s.event, filepath.Base(f.Object), f.Symbol}
		v := c.script[k]
		if i == 0 {
			v.exclusive += s.value
		}
		if !seen[k] {
			v.inclusive += s.value
		}
		seen[k] = true
		c.script[k] = v
	}
}

func (c *comparison) verdict(event string, n name) *verdict {
	k := eventName{event, n}
	v := c.names[k]
	if v == nil {
		v = &verdict{rules: map[string]int64{}}
		c.names[k] = v
	}
	return v
}

// differs adds a sample to a verdict that counts for the function on one side only. why is the rule
// that explains it, or "".
func (v *verdict) differs(why, what string, s *sample, p *perftext.Sample, d *difference) {
	if why != "" {
		v.rules[why]++
		return
	}
	v.unexplained++
	if v.example == "" {
		v.example = what + "\n" + pictures(s.stack, p.Chain, d.first)
	}
}

// values checks that each function's value in the store is the sum of the samples whose stacks have
// the function.
func (c *comparison) values() {
	for metric, values := range c.content.values {
		for k, v := range c.names {
			if k.event != metric || k.name.function == nil || v.ours == (pair{}) {
				continue
			}
			if got := values[k.name.function.id]; got != v.ours {
				c.problems = append(c.problems, fmt.Sprintf("%s: function_metrics has %v, its stacks %v", k.name, got, v.ours))
			}
		}
		for id, v := range values {
			n := name{function: c.content.functions[id]}
			if _, event := c.events()[metric]; event && id != c.content.total && v != (pair{}) && c.names[eventName{metric, n}] == nil {
				c.problems = append(c.problems, fmt.Sprintf("%s: function_metrics has %v, no sample has it", n, v))
			}
		}
	}
}

// events returns the events that have samples.
func (c *comparison) events() map[string]bool {
	events := map[string]bool{}
	for k := range c.names {
		events[k.event] = true
	}
	return events
}

var dataOffset = regexp.MustCompile(`\+0x[0-9a-f]+$`)

// addressRow matches an address that perf shows instead of a symbol.
var addressRow = regexp.MustCompile(`^(0x)?[0-9a-f]{16}$`)

// row returns the key of a row of `perf report`, without the offset that perf adds to symbols of
// data.
func row(r perftext.Row) reportRow {
	return reportRow{r.Event, filepath.Base(r.Object), dataOffset.ReplaceAllString(r.Symbol, "")}
}

// report checks that the values in `perf report` are the sums of the samples in `perf script`.
func (c *comparison) report(rows []perftext.Row) {
	count := map[reportRow]int{}
	self := map[reportRow]int64{}
	for _, r := range rows {
		k := row(r)
		count[k]++
		self[k] += r.Period
	}
	for _, r := range rows {
		k := row(r)
		if addressRow.MatchString(r.Symbol) {
			continue // code without a symbol: perf has a row for each address
		}
		v, ok := c.script[k]
		if !ok || v.exclusive != self[k] {
			c.problems = append(c.problems, fmt.Sprintf("perf report: %v has %d, its samples %d", k, self[k], v.exclusive))
		}
		percent := fmt.Sprintf("%.2f", 100*float64(v.inclusive)/float64(r.Total))
		if r.Children != "" && count[k] == 1 && percent != r.Children {
			c.problems = append(c.problems, fmt.Sprintf("perf report: %v has %s %% with its callees, its samples %s %%", k, r.Children, percent))
		}
	}
	for k, v := range c.script {
		if v.exclusive > 0 && count[k] == 0 && k.symbol != unknown {
			c.problems = append(c.problems, fmt.Sprintf("perf report: no row for %v", k))
		}
	}
}
