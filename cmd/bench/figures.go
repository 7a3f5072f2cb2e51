package main

import (
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
)

// figure is a measured value, with its target if there is one.
type figure struct {
	work    string // what was measured
	against string // what the value is relative to; "": it is absolute
	value   float64
	unit    string  // unit of value and target
	target  float64 // maximum (minimum if atLeast) of value; 0: no target
	atLeast bool    // target is a minimum
	skipped string  // why value could not be measured; "": it was
}

// verdict says whether the target is met.
func (f figure) verdict() string {
	met := f.value <= f.target
	if f.atLeast {
		met = f.value >= f.target
	}
	switch {
	case f.skipped != "":
		return "skipped: " + f.skipped
	case f.target == 0:
		return ""
	case met:
		return "met"
	}
	return "missed"
}

// wanted returns the target as text.
func (f figure) wanted() string {
	switch {
	case f.target == 0:
		return ""
	case f.atLeast:
		return "at least " + number(f.target, f.unit)
	}
	return "at most " + number(f.target, f.unit)
}

func (f figure) result() string {
	if f.skipped != "" {
		return ""
	}
	return number(f.value, f.unit)
}

// number prints a number with at least three digits, and its unit.
func number(v float64, unit string) string {
	digits := 2
	for limit := 10.0; digits > 0 && v >= limit; limit *= 10 {
		digits--
	}
	if unit != "" {
		unit = " " + unit
	}
	return fmt.Sprintf("%.*f%s", digits, v, unit)
}

// figures are the values measured so far.
type figures []figure

func (all *figures) add(f figure) { *all = append(*all, f) }

// skip adds a figure for something that cannot be measured on this machine.
func (all *figures) skip(work string, why any) { all.add(figure{work: work, skipped: fmt.Sprint(why)}) }

// print prints the figures with their targets as one table.
func (all figures) print(w io.Writer) {
	t := table.NewWriter()
	t.SetOutputMirror(w)
	t.AppendHeader(table.Row{"work", "against", "figure", "target", "verdict"})
	for _, f := range all {
		t.AppendRow(table.Row{f.work, f.against, f.result(), f.wanted(), f.verdict()})
	}
	fmt.Fprintln(w)
	t.Render()
}
