package main

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"stackmill/cmd/acceptance/golden"
)

// candidates finds the instructions that each row of gprofng's list of PCs may be about. Several
// functions may have the name in a row; place chooses one of them later.
func (p *peer) candidates() {
	byName := map[string][]*shownFunction{}
	for _, f := range p.functions {
		byName[f.Name] = append(byName[f.Name], f)
	}
	p.shown = map[place]bool{}
	for _, r := range p.pcs.Rows {
		name, offset, _, _, _ := golden.PC(r.Name)
		for _, f := range byName[name] {
			p.shown[place{f.LoadObject, f.Offset + offset}] = true
		}
	}
}

// sum computes the values of instructions from the recorded stacks, before any rule. It leaves out
// leaves in procedure linkage tables if gprofng does, too (S22).
func (p *peer) sum() {
	p.raw, p.owners = map[place]map[string]pair{}, map[place]*function{}
	for _, s := range p.content.stacks {
		words := s.raw
		if len(words) > 0 && words[0].function.kind == "plt" && !p.shown[words[0].place()] {
			words = words[1:]
		}
		for _, metric := range p.metrics {
			v, seen := s.shown(metric), map[place]bool{}
			if v == 0 {
				continue
			}
			for i, f := range words {
				at := f.place()
				p.owners[at] = f.function
				if p.raw[at] == nil {
					p.raw[at] = map[string]pair{}
				}
				sum := p.raw[at][metric]
				if i == 0 {
					sum.exclusive += v
				}
				if !seen[at] {
					sum.inclusive += v
				}
				seen[at] = true
				p.raw[at][metric] = sum
			}
		}
	}
}

func (r rawFrame) place() place { return place{r.object, r.offset} }

// place finds the instructions of each of gprofng's functions, and the same function of the store, if
// there is one. If functions have the same name, it distinguishes them by address.
func (p *peer) place() {
	byName := map[string][]*shownFunction{}
	for _, f := range p.functions {
		byName[f.Name] = append(byName[f.Name], f)
	}
	for _, r := range p.pcs.Rows {
		name, offset, _, _, ok := golden.PC(r.Name)
		if !ok {
			continue
		}
		for _, f := range byName[name] {
			at := place{f.LoadObject, f.Offset + offset}
			if p.raw[at] != nil && (offset < f.Size || f.NoFunctions()) {
				f.places[at] = true
			}
		}
	}
	starts := map[place]*function{}
	named := map[string]*function{}
	for _, f := range p.content.functions {
		if filepath.IsAbs(f.object) {
			starts[place{f.object, f.offset}] = f
		} else {
			named[f.name] = f
		}
	}
	ours := map[*function]map[place]bool{}
	for at, f := range p.owners {
		if ours[f] == nil {
			ours[f] = map[place]bool{}
		}
		ours[f][at] = true
	}
	for _, f := range p.functions {
		switch g := starts[place{f.LoadObject, f.Offset}]; {
		case !filepath.IsAbs(f.LoadObject):
			f.ours = named[f.Name]
		case g != nil && maps.Equal(ours[g], f.places):
			f.ours = g
		}
	}
}

// value formats a value as gprofng does in that column.
func (p *peer) value(c golden.Column, v pair) string {
	if c.Flavor == "Excl." {
		return golden.Print(p.content.units[c.Metric], v.exclusive)
	}
	return golden.Print(p.content.units[c.Metric], v.inclusive)
}

// checkPlaces checks that each instruction has the same values on both sides, whatever function it
// is shown in: that proves that both read the recorded stacks alike.
func (p *peer) checkPlaces() {
	theirs := map[place][][]string{} // a list, because two of gprofng's functions may have the same instruction
	for _, r := range p.pcs.Rows {
		name, offset, _, _, ok := golden.PC(r.Name)
		if !ok {
			continue
		}
		at, known := p.placeOf(name, offset, r.Values)
		if known {
			theirs[at] = append(theirs[at], r.Values)
		} else if !strings.HasPrefix(name, "<") {
			p.result.failed = append(p.result.failed, fmt.Sprintf("%s: no recorded stack has it", r.Name))
		}
	}
	for at, rows := range theirs {
		for k, c := range p.columns {
			got, sum := p.value(c, p.raw[at][c.Metric]), 0.0
			for _, values := range rows {
				sum += number(values[k])
			}
			if slack := 0.0005 * float64(len(rows)+1); got != rows[0][k] && (len(rows) == 1 || math.Abs(number(got)-sum) > slack) {
				p.result.failed = append(p.result.failed, fmt.Sprintf("%s+%x: %s %s is %s, gprofng has %g", at.object, at.offset, c.Flavor, c.Metric, got, sum))
			}
		}
	}
	for at, values := range p.raw {
		if theirs[at] == nil && filepath.IsAbs(at.object) {
			p.result.failed = append(p.result.failed, fmt.Sprintf("%s+%x: %v, gprofng does not show it", at.object, at.offset, values))
		}
	}
}

// placeOf returns the instruction that a row of gprofng is about. If functions have the same name,
// it chooses the one whose instruction has the row's values.
func (p *peer) placeOf(name string, offset int64, values []string) (at place, known bool) {
	for _, f := range p.functions {
		here := place{f.LoadObject, f.Offset + offset}
		if f.Name != name || !f.places[here] || known && here == at {
			continue
		}
		fits := true
		for k, c := range p.columns {
			fits = fits && p.value(c, p.raw[here][c.Metric]) == values[k]
		}
		if !known || fits {
			at, known = here, true
		}
	}
	return at, known
}

// shown returns the value of a stack as gprofng counts it.
func (s *stack) shown(metric string) int64 {
	if isLeak(metric) {
		return s.leaks[metric]
	}
	return s.values[metric]
}

// isLeak reports whether a metric counts leaks.
func isLeak(metric string) bool { return strings.HasPrefix(metric, "heapleak") }

// number parses a value that gprofng has printed.
func number(s string) float64 {
	v, _ := strconv.ParseFloat(s, 64)
	return v
}
