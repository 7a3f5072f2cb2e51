package queries

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Filter says which samples count, and which functions are shown of them. All that it says
// must hold; the numbers of one kind, and the windows of time, are alternatives.
type Filter struct {
	Where   []string // SQL over the columns of one sample: WhereHelp
	Threads []int64
	CPUs    []int64
	PIDs    []int64
	Between []string // BetweenHelp

	// The load objects whose functions are left out, all or but for those that others call.
	Hide    []string // HideHelp
	APIOnly []string // APIOnlyHelp

	// Mode is the representation whose stacks are looked at, user mode if it is empty;
	// Inline says whether inlined functions are functions of their own there.
	Mode   string
	Inline bool
}

// FilterError is the error of a filter that means nothing for the store.
type FilterError struct{ Err error }

func (e *FilterError) Error() string { return e.Err.Error() }

func (e *FilterError) Unwrap() error { return e.Err }

// The help of what a filter is made of.
const (
	WhereHelp = `only samples for which this SQL holds, over the columns experiment, host, pid, process, thread_id, cpu, time_ns, wall, kind, leaf, leaf_object, ` +
		`label('KEY'), stack_has('REGEX') (a function on the stack), object_has('REGEX') (a load object there), during('PHASE'); may be repeated: all must hold`
	BetweenHelp = `only samples of this time: from and until, as seconds from the experiment's start (10s,20s) or in UTC (2026-11-21T02:00,2026-11-21T02:10), ` +
		`of which one may be left out, or a phase's name (a label phase.NAME); may be repeated: one must hold`
)

// IsEmpty reports whether all samples count and all functions are shown.
func (f *Filter) IsEmpty() bool { return !f.chooses() && !f.hides() }

// chooses reports whether there are conditions on samples.
func (f *Filter) chooses() bool {
	return len(f.Where)+len(f.Threads)+len(f.CPUs)+len(f.PIDs)+len(f.Between) > 0
}

// hides reports whether functions are left out.
func (f *Filter) hides() bool { return len(f.Hide)+len(f.APIOnly) > 0 }

// Conditions are what must hold, as SQL, one each.
func (f *Filter) Conditions() (all []string, err error) {
	all = slices.Clone(f.Where)
	for _, in := range []struct {
		column string
		values []int64
	}{{"thread_id", f.Threads}, {"cpu", f.CPUs}, {"pid", f.PIDs}} {
		if len(in.values) == 0 {
			continue
		}
		texts := make([]string, len(in.values))
		for i, v := range in.values {
			texts[i] = strconv.FormatInt(v, 10)
		}
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
			return nil, &FilterError{fmt.Errorf("time %q: %w", text, err)}
		}
		windows = append(windows, w)
	}
	if windows != nil {
		all = append(all, strings.Join(windows, " OR "))
	}
	return all, nil
}

// window returns the condition of one window of time.
func window(text string) (string, error) {
	from, until, isPair := strings.Cut(text, ",")
	if !isPair {
		if _, err := moment(text); err == nil {
			return "", errors.New("there is one time, without a comma (10s, means from then on, and ,10s until then)")
		}
		return "during(" + quote(text) + ")", nil
	}
	var parts []string
	var ends []point
	for _, end := range []struct{ text, compare string }{{from, ">="}, {until, "<"}} {
		t := strings.TrimSpace(end.text)
		if t == "" {
			continue
		}
		p, err := moment(t)
		if err != nil {
			return "", err
		}
		ends = append(ends, p)
		parts = append(parts, p.column+" "+end.compare+" "+p.value)
	}
	if parts == nil {
		return "", errors.New("there is no time")
	}
	if len(ends) == 2 && ends[0].column == ends[1].column && ends[0].at >= ends[1].at {
		return "", errors.New("it ends before it begins: no sample could be of it")
	}
	return strings.Join(parts, " AND "), nil
}

// PhaseLabel is how the keys of labels begin that name phases of experiments.
const PhaseLabel = "phase."

// Phase returns the value of such a label as the view marks reads it: FROM..UNTIL, of which
// one may be missing, and several with blanks between them.
func Phase(value string) (string, error) {
	pieces := strings.Fields(value)
	for i, p := range pieces {
		from, until, ok := strings.Cut(p, "..")
		if !ok || from+until == "" {
			return "", fmt.Errorf("%q is no time of a phase (0s..10s; one may be left out)", p)
		}
		for _, end := range []*string{&from, &until} {
			if *end == "" {
				continue
			}
			m, err := moment(*end)
			if err != nil {
				return "", err
			}
			if m.column == "time_ns" {
				if *end = decimal(m.value); strings.HasPrefix(m.value, "-") {
					return "", fmt.Errorf("%q is before the start", p)
				}
			} else {
				*end = strings.Replace(strings.TrimSuffix(strings.TrimPrefix(m.value, "TIMESTAMP '"), "'"), " ", "T", 1)
			}
		}
		pieces[i] = from + ".." + until
	}
	return strings.Join(pieces, " "), nil
}

// decimal writes nanoseconds as seconds.
func decimal(ns string) string {
	ns = strings.Repeat("0", max(10-len(ns), 0)) + ns
	return strings.TrimSuffix(strings.TrimRight(ns[:len(ns)-9]+"."+ns[len(ns)-9:], "0"), ".") + "s"
}

// point is a point in time: the column that has it, and its value there as SQL; at compares
// it with others of the column.
type point struct {
	column, value string
	at            int64 // ns, or µs for wall
}

// moment reads a point in time.
func moment(text string) (point, error) {
	if d, err := time.ParseDuration(text); err == nil {
		return fromStart(d.Nanoseconds()), nil
	}
	if s, err := strconv.ParseFloat(text, 64); err == nil && s > -1e9 && s < 1e9 {
		return fromStart(int64(math.Round(s * 1e9))), nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02"} {
		if t, err := time.Parse(layout, strings.Replace(text, " ", "T", 1)); err == nil {
			return point{"wall", "TIMESTAMP '" + t.UTC().Format("2006-01-02 15:04:05.999999") + "'", t.UnixMicro()}, nil
		}
	}
	return point{}, fmt.Errorf("%q is no time (10s, 1m30s, 2026-11-21T02:00)", text)
}

func fromStart(ns int64) point { return point{"time_ns", strconv.FormatInt(ns, 10), ns} }
