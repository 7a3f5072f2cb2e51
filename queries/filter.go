package queries

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stackmill/queries/timerange"
)

// Filter selects samples, and says which functions are hidden. A sample must fulfill all
// conditions. Several threads, CPUs, processes or time ranges are alternatives.
type Filter struct {
	Where   []string // SQL over the columns of a sample: WhereHelp
	Threads []int64
	CPUs    []int64
	PIDs    []int64
	Between []string // BetweenHelp

	// Hide names load objects of which all functions are hidden; APIOnly, those of which only the
	// entry points are shown.
	Hide    []string // HideHelp
	APIOnly []string // APIOnlyHelp

	// Mode is the mode whose stacks the conditions see; empty: user mode. With Inline, these stacks
	// have inlined functions as frames of their own.
	Mode   string
	Inline bool
}

// FilterError is the error of a filter that is invalid, or matches nothing that the store has.
type FilterError struct{ error }

func (e *FilterError) Unwrap() error { return e.error }

// The help texts of a filter's options.
const (
	WhereHelp = `only samples for which this SQL is true, over the columns experiment, host, pid, process, thread_id, thread_name, cgroup, cpu, time_ns, wall, kind, leaf, leaf_object, event, state, ` +
		`label('KEY'), stack_has('REGEX') (a function on the stack), object_has('REGEX') (a load object on it), during('PHASE'), field('NAME') (of a tracepoint); may be repeated: all must be true`
	BetweenHelp = `only samples in this time range: FROM,UNTIL as seconds since the experiment's start (10s,20s) or in UTC (2026-11-21T02:00,2026-11-21T02:10), ` +
		`where either may be left out, or a phase's name (a label phase.NAME); may be repeated, to select several ranges`
)

// IsEmpty reports whether all samples pass and no function is hidden.
func (f *Filter) IsEmpty() bool { return !f.chooses() && !f.hides() }

// chooses reports whether there are conditions on samples.
func (f *Filter) chooses() bool {
	return len(f.Where)+len(f.Threads)+len(f.CPUs)+len(f.PIDs)+len(f.Between) > 0
}

// hides reports whether functions are hidden.
func (f *Filter) hides() bool { return len(f.Hide)+len(f.APIOnly) > 0 }

// Conditions returns the conditions on samples as SQL expressions, all of which must hold.
func (f *Filter) Conditions() (all []string, err error) {
	all = slices.Clone(f.Where)
	for _, in := range []struct {
		column string
		values []int64
	}{{"thread_id", f.Threads}, {"cpu", f.CPUs}, {"pid", f.PIDs}} {
		if len(in.values) == 0 {
			continue
		}
		texts := mapped(in.values, func(v int64) string { return strconv.FormatInt(v, 10) })
		if len(texts) == 1 {
			all = append(all, in.column+" = "+texts[0])
		} else {
			all = append(all, in.column+" IN ("+strings.Join(texts, ", ")+")")
		}
	}
	var windows []string
	for _, text := range f.Between {
		w, err := window(text)
		if err != nil {
			return nil, &FilterError{fmt.Errorf("--between: %q: %w", text, err)}
		}
		windows = append(windows, w)
	}
	if windows != nil {
		all = append(all, strings.Join(windows, " OR "))
	}
	return all, nil
}

// window returns the condition for one time range.
func window(text string) (string, error) {
	from, until, isPair := strings.Cut(text, ",")
	if !isPair {
		if _, err := timerange.Parse(text); err == nil {
			return "", errors.New(`FROM,UNTIL is needed (write "10s," for from 10 s on, ",10s" for until 10 s)`)
		}
		return "during(" + quote(text) + ")", nil
	}
	var parts []string
	var ends []timerange.Point
	for _, end := range []struct{ text, compare string }{{from, ">="}, {until, "<"}} {
		t := strings.TrimSpace(end.text)
		if t == "" {
			continue
		}
		p, err := timerange.Parse(t)
		if err != nil {
			return "", err
		}
		ends = append(ends, p)
		parts = append(parts, p.Column+" "+end.compare+" "+p.Value)
	}
	if parts == nil {
		return "", errors.New("neither end of the range is given")
	}
	if len(ends) == 2 && ends[0].Column == ends[1].Column && ends[0].At >= ends[1].At {
		return "", errors.New("it ends before it begins")
	}
	return strings.Join(parts, " AND "), nil
}
