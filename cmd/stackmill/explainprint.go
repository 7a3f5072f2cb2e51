//go:build cgo

package main

import (
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"text/tabwriter"

	"stackmill/internal/terminal"
)

// print writes the explanation for people.
func (x *explanation) print(out io.Writer) error {
	w := terminal.NewPage(tabwriter.NewWriter(out, 0, 0, 2, ' ', 0))
	if x.Sample != nil {
		thread := fmt.Sprint(x.Sample.ThreadID)
		if x.Sample.Thread != "" {
			thread += " (" + x.Sample.Thread + ")"
		}
		w.Printf("Sample %d of %s: %s, thread %s, at %s s\n", x.Sample.Sample, x.Experiment, x.Sample.Kind, thread, formatValue(x.Sample.TimeNS, "ns"))
	}
	if x.Normalised != nil {
		others := "No other recorded stack became it"
		if n := x.Normalised.Others; n > 0 {
			others = fmt.Sprintf("%d other recorded stacks became it as well", n)
		}
		w.Printf("Stack %d of %s. %s.\n", x.Normalised.StackID, x.Experiment, others)
	}
	from := "from the start"
	if x.FromNS != nil {
		from = "from " + formatValue(*x.FromNS, "ns") + " s"
	}
	w.Printf("Recorded stack %d of %s\n", x.RawStackID, x.Experiment)
	w.Printf("  process %d (%d, %s), holds %s, samples: %d\n", x.Process, x.PID, path.Base(x.Program), from, x.Samples)
	if x.Reason != "" {
		w.Printf("  %s\n", x.Reason)
	}
	for _, part := range []struct{ name, title string }{
		{"native", "Recorded frames, leaf first"}, {"java", "Recorded Java frames, leaf first"}, {"openmp", "Recorded OpenMP frames, leaf first"},
	} {
		frames := x.part(part.name)
		if len(frames) > 0 || part.name == "native" {
			w.Printf("\n%s\n", part.title)
			printFrames(w, frames)
		}
	}
	x.printRules(w)
	for _, s := range x.Stacks {
		w.Printf("\nStack %d, %s\n", s.StackID, strings.Join(s.Modes, " = "))
		printFrames(w, s.Frames)
	}
	return w.Flush()
}

func printFrames(w *terminal.Page, frames []stackFrame) {
	for _, f := range frames {
		w.Printf("  %d\t", f.Position)
		if f.Word != "" {
			w.Printf("%s\t", f.Word)
		}
		if f.Marker != "" {
			w.Printf("(%s)\n", f.Marker)
			continue
		}
		where := f.Reason
		if f.File != "" {
			where = path.Base(f.File) + ":" + strconv.FormatInt(f.Line, 10)
		}
		cells := []string{f.text(), f.LoadObject, where, f.Rule}
		for cells[len(cells)-1] == "" {
			cells = cells[:len(cells)-1]
		}
		for i, c := range cells {
			separator := "\t"
			if i == len(cells)-1 {
				separator = "\n"
			}
			w.Printf("%s"+separator, c)
		}
	}
	if len(frames) == 0 {
		w.Printf("  (no frames)\n")
	}
	w.Flush() // the next frames have columns of their own
}

// text is the function and the offset in it.
func (f stackFrame) text() string {
	if f.Offset == nil {
		return f.Function
	}
	return fmt.Sprintf("%s+%#x", f.Function, *f.Offset)
}

func (x *explanation) printRules(w *terminal.Page) {
	if len(x.Rules) == 0 {
		w.Printf("\nNo rule changed the stack.\n")
		return
	}
	var modes string
	for _, s := range x.Rules {
		if m := strings.Join(s.Modes, " = "); m != modes {
			modes = m
			from := "machine mode"
			if strings.Contains(m, "machine") {
				from = "what was recorded"
			}
			w.Printf("\nRules, from %s to %s mode\n", from, m)
		}
		w.Printf("  %-4s %s: %s\n", s.Rule, s.text(), s.Title)
	}
}

// listed is how many frames a step names.
const listed = 4

// text words what the rule did.
func (s step) text() string {
	if s.Change == shows {
		return "shows " + s.Frames[0].text() + " as " + s.Frames[1].text()
	}
	var names []string
	for _, f := range s.Frames[:min(listed, len(s.Frames))] {
		names = append(names, f.text())
	}
	change := s.Change
	if change == calls {
		change = "takes the calls before"
	}
	text := change + " " + strings.Join(names, ", ")
	if n := len(s.Frames) - listed; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	switch s.Change {
	case uses:
		text += " from the return register"
	case restores:
		text += " from the branch records"
	}
	return text
}
