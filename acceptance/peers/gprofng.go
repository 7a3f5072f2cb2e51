package main

import (
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"stackmill/acceptance/golden"
)

// display lets gprofng print a report of an experiment with metrics.
func display(ctx context.Context, work string, metrics []string, report, experiment string) (path string, err error) {
	var spec []string
	for _, m := range metrics {
		spec = append(spec, "e+"+m, "i+"+m)
	}
	cmd := exec.CommandContext(ctx, "gprofng", "display", "text", "-limit", "0", "-metrics", strings.Join(spec, ":")+":name", "-"+report, experiment)
	text, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%v: %w", cmd, err)
	}
	path = filepath.Join(work, "gprofng."+report)
	return path, os.WriteFile(path, text, 0o644)
}

// place is an instruction: its offset in a load object's file.
type place struct {
	object string
	offset int64
}

// shownFunction is a function as gprofng shows it.
type shownFunction struct {
	golden.Function
	values []string // by column
	places map[place]bool
	ours   *function // nil: the store divides the text otherwise
}

// peer compares an experiment with what gprofng shows of it.
type peer struct {
	content   *content
	files     *files
	metrics   []string
	columns   []golden.Column
	functions []*shownFunction
	pcs       golden.Table
	shown     map[place]bool // instructions of pcs
	blocks    []golden.Table // callers and callees, in the order of functions
	raw       map[place]map[string]pair
	owners    map[place]*function
	result    *result
}

// compareGprofng ingests an experiment into a fresh store and compares it with
// what gprofng shows.
func compareGprofng(ctx context.Context, name, experiment, work string) (*result, error) {
	content, err := ingest(ctx, experiment, filepath.Join(work, "store"))
	if err != nil {
		return nil, err
	}
	p := &peer{content: content, files: newFiles("/"), result: &result{name: name, rules: map[string]int{}}}
	p.metrics = slices.Sorted(maps.Keys(content.units))
	if err := p.read(ctx, experiment, work); err != nil {
		return nil, err
	}
	p.candidates()
	p.sum()
	p.place()
	p.checkPlaces()
	p.checkFunctions()
	p.checkEdges()
	p.result.unexplained += len(p.result.failed)
	return p.result, nil
}

// read reads gprofng's lists.
func (p *peer) read(ctx context.Context, experiment, work string) error {
	tables := map[string][]golden.Table{}
	for _, report := range []string{"functions", "pcs", "callers-callees", "fsummary"} {
		path, err := display(ctx, work, p.metrics, report, experiment)
		if err != nil {
			return err
		}
		if report == "fsummary" {
			summary, err := golden.ReadFunctions(path)
			if err != nil {
				return err
			}
			for _, f := range summary {
				p.functions = append(p.functions, &shownFunction{Function: f, places: map[place]bool{}})
			}
			continue
		}
		if tables[report], err = golden.ReadTables(path); err != nil {
			return err
		}
	}
	if len(tables["functions"]) != 1 || len(tables["pcs"]) != 1 || len(tables["functions"][0].Rows) != len(p.functions) || len(tables["callers-callees"]) != len(p.functions) {
		return fmt.Errorf("gprofng's lists of %s do not fit each other: %d functions, %d summaries, %d blocks, %d and %d tables", experiment, len(tables["functions"][0].Rows), len(p.functions), len(tables["callers-callees"]), len(tables["functions"]), len(tables["pcs"]))
	}
	list := tables["functions"][0]
	for i, r := range list.Rows {
		p.functions[i].values = r.Values
	}
	p.columns, p.pcs, p.blocks = list.Columns, tables["pcs"][0], tables["callers-callees"]
	return nil
}

// candidates finds out which instructions gprofng may mean by its list: rows of
// equal names are told apart later.
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

// sum adds up what each instruction counts for by the recorded stacks alone. A leaf
// in a procedure linkage table that gprofng knows is dropped by it, too (S22).
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

// place finds out which instructions gprofng counts for which of its functions.
// Rows of equal names are told apart by where the functions lie.
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

// value prints a value as gprofng's column does.
func (p *peer) value(c golden.Column, v pair) string {
	if c.Flavour == "Excl." {
		return golden.Print(p.content.units[c.Metric], v.exclusive)
	}
	return golden.Print(p.content.units[c.Metric], v.inclusive)
}

// checkPlaces checks that every instruction counts for the same on both sides,
// whatever function it is said to be in: the recorded stacks are read alike.
func (p *peer) checkPlaces() {
	theirs := map[place][][]string{} // an instruction may be in two of gprofng's functions
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
				p.result.failed = append(p.result.failed, fmt.Sprintf("%s+%x: %s %s is %s, gprofng has %g", at.object, at.offset, c.Flavour, c.Metric, got, sum))
			}
		}
	}
	for at, values := range p.raw {
		if theirs[at] == nil && filepath.IsAbs(at.object) {
			p.result.failed = append(p.result.failed, fmt.Sprintf("%s+%x: %v, gprofng does not show it", at.object, at.offset, values))
		}
	}
}

// placeOf returns the place that a row of instructions is for: of functions of one
// name the one where the values are the same.
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

// shown is what a stack counts for in gprofng.
func (s *stack) shown(metric string) int64 {
	if isLeak(metric) {
		return s.leaks[metric]
	}
	return s.values[metric]
}

// isLeak reports whether a metric counts leaks.
func isLeak(metric string) bool { return strings.HasPrefix(metric, "heapleak") }

// checkFunctions compares all functions of both sides.
func (p *peer) checkFunctions() {
	paired := map[*function]bool{}
	for _, f := range p.functions {
		v := &verdict{rules: map[string]int64{}}
		if f.ours != nil {
			paired[f.ours] = true
			p.checkPair(f, v)
		} else {
			p.checkDivision(f, v)
		}
		p.result.add(f.Name+" of "+filepath.Base(f.LoadObject), true, v)
	}
	for _, f := range p.content.functions {
		if paired[f] || !p.hasValues(f) {
			continue
		}
		v := &verdict{rules: map[string]int64{}}
		p.checkOwn(f, v)
		p.result.add(f.name+" of "+filepath.Base(f.object)+" in the store", true, v)
	}
}

func (p *peer) hasValues(f *function) bool {
	for _, values := range p.content.values {
		if values[f.id] != (pair{}) {
			return true
		}
	}
	return false
}

func (v *verdict) explain(rule, otherwise string) {
	if rule != "" {
		v.rules[rule]++
		return
	}
	v.unexplained++
	v.example = otherwise
}

// checkPair compares a function that both sides have.
func (p *peer) checkPair(f *shownFunction, v *verdict) {
	p.checkName(f, v)
	for k, c := range p.columns {
		if got := p.value(c, p.content.values[c.Metric][f.ours.id]); got != f.values[k] {
			v.explain(p.ruled(f.ours, c, f.values[k]), fmt.Sprintf("%s %s is %s, gprofng has %s", c.Flavour, c.Metric, got, f.values[k]))
		}
	}
}

// checkName compares the names of a function, by gprofng's choice of alias.
func (p *peer) checkName(f *shownFunction, v *verdict) {
	linkage := f.Name
	if f.Linkage != "" {
		linkage = f.Linkage
	}
	switch g := f.ours; {
	case g.gprofng == f.Name, g.name == f.Name:
	case g.is(linkage) && len(g.aliases) > 1:
		v.explain("S4", "")
	case g.is(linkage): // marked for people (S9, S11)
	case g.kind == "static" && strings.HasPrefix(f.Name, g.name+" "): // with its load object
	case strings.HasPrefix(f.Name, "<static>@"):
		for at := range f.places {
			v.explain(p.division(f, at), "is called "+g.gprofng+" in the store")
		}
	default:
		v.explain("", "is called "+g.gprofng+" in the store")
	}
}

// ruled names the rules by which a function's value differs from what its
// recorded stacks say, empty if one of them is no rule's. shown is gprofng's.
func (p *peer) ruled(f *function, c golden.Column, shown string) string {
	if isLeak(c.Metric) && p.withLeaks(f, c) == shown {
		return "realloc"
	}
	var why []string
	for _, s := range p.content.stacks {
		if s.values[c.Metric] == 0 {
			continue
		}
		why = append(why, changes(s, f, c.Flavour == "Excl.")...)
	}
	return all(why)
}

// withLeaks is a function's value with the leaks that gprofng counts.
func (p *peer) withLeaks(f *function, c golden.Column) string {
	var v pair
	for _, s := range p.content.stacks {
		if f.id == p.content.total || slices.ContainsFunc(s.machine, func(m frame) bool { return m.function == f }) {
			v.inclusive += s.leaks[c.Metric]
		}
		if f.id == p.content.total || len(s.machine) > 0 && s.machine[0].function == f {
			v.exclusive += s.leaks[c.Metric]
		}
	}
	return p.value(c, v)
}

// changes tells why a function's part in a stack is another after the rules: one
// reason, or none if it is the same.
func changes(s *stack, f *function, exclusive bool) []string {
	frames, dropped := follow(s)
	has := func(n int, at func(i int) *function) bool {
		if exclusive {
			n = min(n, 1)
		}
		for i := range n {
			if at(i) == f {
				return true
			}
		}
		return false
	}
	before := has(len(s.raw), func(i int) *function { return s.raw[i].function })
	after := has(len(s.machine), func(i int) *function { return s.machine[i].function })
	switch {
	case before == after:
		return nil
	case exclusive && len(dropped) > 0 && dropped[0] != "":
		return []string{dropped[0]}
	case exclusive && len(frames) > 0 && frames[0].raw < 0:
		return []string{frames[0].reason}
	}
	for i, why := range dropped {
		if before && s.raw[i].function == f {
			return []string{why}
		}
	}
	for m, g := range frames {
		if after && s.machine[m].function == f {
			return []string{g.reason}
		}
	}
	return []string{""}
}

// checkDivision checks a function of gprofng's whose text the store divides
// otherwise: each instruction must tell why.
func (p *peer) checkDivision(f *shownFunction, v *verdict) {
	for at := range f.places {
		if g := p.owners[at]; g.offset == f.Offset {
			p.checkOwn(g, v) // some of it is in another function of gprofng's
		} else {
			v.explain(p.division(f, at), fmt.Sprintf("%x is in %s of the store", at.offset, g.name))
		}
	}
	if len(f.places) == 0 {
		v.explain("", "none of its instructions is on a stack of the store")
	}
}

// division tells why gprofng counts an instruction for another function than the
// store does.
func (p *peer) division(f *shownFunction, at place) string {
	o, g := p.files.object(at.object), p.owners[at]
	static := strings.HasPrefix(f.Name, "<static>@")
	own := func(s symbol) bool { return s.own && typed(s) }
	switch {
	case o == nil:
		return ""
	case f.NoFunctions():
		if f.Offset == o.textSize() {
			return "gprofng-text-size" // it takes the segment's size for the end of the text in the file
		}
	case g.kind == "plt" && static && o.inTable(at.offset):
		return "S22"
	case g.name == "__restore_rt" && static && !o.covers(at.offset, own):
		return "S24"
	case static && !o.covers(at.offset, own):
		if g.kind == "static" {
			return "S6"
		}
		return "S3" // debug files, .gnu_debugdata, symbols without a type
	case g.kind == "static" && !o.covers(at.offset, typed):
		return "S6"
	}
	return ""
}

// checkOwn checks a function of the store's that gprofng does not have: other
// functions of gprofng's must have its instructions, or rules must have made it.
func (p *peer) checkOwn(f *function, v *verdict) {
	seen := false
	for at, owner := range p.owners {
		if owner != f {
			continue
		}
		for _, g := range p.functions {
			if g.places[at] && (g.LoadObject != f.object || g.Offset != f.offset) {
				seen = true
				v.explain(p.division(g, at), fmt.Sprintf("%x is in %s of gprofng", at.offset, g.Name))
			}
		}
	}
	for metric, values := range p.content.values {
		if values[f.id] == (pair{}) || seen {
			continue
		}
		if f.kind == "plt" {
			v.explain("S22", "") // gprofng leaves a stack of nothing else empty
			continue
		}
		v.explain(p.ruled(f, golden.Column{Flavour: "Incl.", Metric: metric}, "0"), fmt.Sprintf("%s is %v, gprofng has no such function", metric, values[f.id]))
	}
}

// number is a printed value.
func number(s string) float64 {
	v, _ := strconv.ParseFloat(s, 64)
	return v
}
