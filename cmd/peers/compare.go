package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"stackmill/cmd/acceptance/perftext"
)

// name is what values are compared for: a function of the store or, if the store has none, a symbol
// that perf shows.
type name struct {
	function *function // nil: the store has no such function
	object   string
	symbol   string
}

func (n name) String() string {
	if n.function != nil {
		return fmt.Sprintf("%s (%s)", n.function.name, filepath.Base(n.function.object))
	}
	return fmt.Sprintf("%s (%s)", n.symbol, filepath.Base(n.object))
}

// verdict is the result of the comparison for one name.
type verdict struct {
	ours, theirs pair
	rules        map[string]int64 // number of differing samples, by the rule that explains the difference
	unexplained  int64
	example      string // text about a sample whose difference is unexplained
}

// comparison compares the samples that perf shows for a recording with those in the store.
type comparison struct {
	content  *content
	files    *files
	maps     map[string]perfMap
	unwound  bool // the recording has stack dumps, which perf unwinds
	names    map[eventName]*verdict
	script   map[reportRow]pair        // sums of the samples that perf shows
	symbols  map[[2]string][]*function // functions of the store, by object and symbol
	known    map[string]*difference
	problems []string
}

func newComparison(c *content, fs *files, unwound bool) *comparison {
	x := &comparison{
		content: c, files: fs, maps: map[string]perfMap{}, unwound: unwound,
		names: map[eventName]*verdict{}, script: map[reportRow]pair{}, symbols: map[[2]string][]*function{}, known: map[string]*difference{},
	}
	for _, f := range c.functions {
		for _, a := range f.aliases {
			at := [2]string{f.object, a}
			x.symbols[at] = append(x.symbols[at], f)
		}
	}
	return x
}

// side is the stack of a sample in the store, or as perf shows it. Each function has the reason why
// the other side may lack it; "" if nothing explains that.
type side struct {
	reasons map[name][]string
	order   []name // the leaf first
	why     []string
}

func newSide() *side { return &side{reasons: map[name][]string{}} }

func (s *side) add(n name, why string) {
	s.reasons[n] = append(s.reasons[n], why)
	s.order, s.why = append(s.order, n), append(s.why, why)
}

// difference is the result of comparing the stack of a sample on both sides. The reason of a
// function is `=` if both sides have it, and "" if nothing explains why only one does.
type difference struct {
	inclusive, exclusive map[name]string
	ours, theirs         map[name]bool
	ourLeaf, theirLeaf   name
	first                int    // index of the first frame that differs
	aliases              []name // names for which perf shows another alias than the store predicts
}

// equal is the reason of frames that both sides have.
const equal = "="

// difference compares the two stacks of a sample, once for each distinct pair. corrupt says that
// perf has discarded the call chain.
func (c *comparison) difference(chain []perftext.Frame, corrupt bool, s *stack) *difference {
	key := fmt.Sprint(s.id, corrupt, chain)
	if d, ok := c.known[key]; ok {
		return d
	}
	ours, theirs := newSide(), newSide()
	d := &difference{inclusive: map[name]string{}, exclusive: map[name]string{}, ours: map[name]bool{}, theirs: map[name]bool{}}
	n, cut, wrong := c.chain(chain, s)
	if n == 1 && len(chain) == 1 && corrupt {
		cut = corruptChain
	}
	d.first = wrong
	frames, dropped := follow(s)
	byRaw := c.addOurs(ours, s, frames, n, cut)
	for i, p := range chain {
		m, ok := byRaw[i]
		switch {
		case i >= n:
			theirs.add(c.name(p), cut)
		case !ok:
			why := c.provenDrop(s, i, dropped)
			if why == "" {
				d.first = min(d.first, i)
			}
			theirs.add(c.name(p), why)
		case agree(p, s.machine[m].function):
			if f := s.machine[m].function; otherAlias(p, f) {
				d.aliases = append(d.aliases, name{function: f})
			}
			theirs.add(ours.order[m], equal)
		default:
			why := c.naming(p, s.raw[i], s.machine[m])
			theirs.add(c.name(p), why)
			ours.change(m, why)
		}
	}
	d.fill(ours, theirs)
	c.known[key] = d
	return d
}

// addOurs adds the frames in machine mode to our side. It returns their indexes, by recorded frame.
// perf lacks the recorded frames from the n-th on, for the reason cut.
func (c *comparison) addOurs(ours *side, s *stack, frames []frameMatch, n int, cut string) (byRaw map[int]int) {
	byRaw = map[int]int{}
	for m, f := range frames {
		switch {
		case f.raw < 0:
			ours.add(name{function: s.machine[m].function}, c.proven(s, m, f.reason))
		case f.raw >= n:
			ours.add(name{function: s.machine[m].function}, cut)
		default:
			byRaw[f.raw] = m
			ours.add(name{function: s.machine[m].function}, equal)
		}
	}
	return byRaw
}

// change replaces the reason of frame i.
func (s *side) change(i int, why string) {
	s.why[i] = why
	list := s.reasons[s.order[i]]
	for k := range list {
		if list[k] == equal {
			list[k] = why
			return
		}
	}
}

// name returns the name of a frame of perf: the store's function with that symbol or, if there is
// none, the symbol.
func (c *comparison) name(p perftext.Frame) name {
	found := c.symbols[[2]string{p.Object, unversioned(p.Symbol)}]
	for _, f := range found {
		if at := int64(p.Address); at >= f.offset && at < f.end || len(found) == 1 {
			return name{function: f}
		}
	}
	return name{object: p.Object, symbol: p.Symbol}
}

// fill sets the reason of each function from the two sides.
func (d *difference) fill(ours, theirs *side) {
	for n := range ours.reasons {
		d.ours[n] = true
	}
	for n := range theirs.reasons {
		d.theirs[n] = true
	}
	for n := range d.ours {
		if !d.theirs[n] {
			d.inclusive[n] = all(ours.reasons[n])
		}
	}
	for n := range d.theirs {
		if !d.ours[n] {
			d.inclusive[n] = all(theirs.reasons[n])
		}
	}
	leaf := func(s *side) (name, string) {
		if len(s.order) == 0 {
			return name{symbol: "<Total>"}, equal
		}
		return s.order[0], s.why[0]
	}
	var ourWhy, theirWhy string
	d.ourLeaf, ourWhy = leaf(ours)
	d.theirLeaf, theirWhy = leaf(theirs)
	if d.ourLeaf != d.theirLeaf {
		why := all([]string{ourWhy, theirWhy})
		d.exclusive[d.ourLeaf], d.exclusive[d.theirLeaf] = why, why
	}
}

// all joins the distinct reasons of frames. It returns "" if a frame has none.
func all(reasons []string) string {
	set := map[string]bool{}
	for _, r := range reasons {
		if r == "" {
			return ""
		}
		if r != equal {
			set[r] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(set)), "+")
}
