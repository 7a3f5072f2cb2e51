//go:build cgo

package explain

import (
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"text/tabwriter"

	"stackmill/internal/terminal"
	"stackmill/queries/text"
)

// Print writes the explanation for people.
func (x *Explanation) Print(out io.Writer) error {
	w := terminal.NewPage(tabwriter.NewWriter(out, 0, 0, 2, ' ', 0))
	if x.Sample != nil {
		thread := fmt.Sprint(x.Sample.ThreadID)
		if x.Sample.Thread != "" {
			thread += " (" + x.Sample.Thread + ")"
		}
		w.Printf("Sample %d of %s: %s, thread %s, at %s s\n", x.Sample.Sample, x.Experiment, x.Sample.Kind, thread, text.Value(x.Sample.TimeNS, "ns"))
	}
	if x.Normalized != nil {
		others := "No other recorded stack led to it"
		if n := x.Normalized.Others; n > 0 {
			others = fmt.Sprintf("%d other recorded stacks led to it as well", n)
		}
		w.Printf("Stack %d of %s. %s.\n", x.Normalized.StackID, x.Experiment, others)
	}
	from := "from the start"
	if x.FromNS != nil {
		from = "from " + text.Value(*x.FromNS, "ns") + " s"
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

func printFrames(w *terminal.Page, frames []frame) {
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
		cells := []string{f.name(), f.LoadObject, where, f.Rule}
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
	w.Flush() // so that the next table has its own column widths
}

// name returns the function with the offset of the instruction, as function+0x12.
func (f frame) name() string {
	if f.Offset == nil {
		return f.Function
	}
	return fmt.Sprintf("%s+%#x", f.Function, *f.Offset)
}

func (x *Explanation) printRules(w *terminal.Page) {
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

// maxNames limits the frames that are named in the text of a step.
const maxNames = 4

// text describes what the rule did.
func (s step) text() string {
	if s.Change == shows {
		return "shows " + s.Frames[0].name() + " as " + s.Frames[1].name()
	}
	var names []string
	for _, f := range s.Frames[:min(maxNames, len(s.Frames))] {
		names = append(names, f.name())
	}
	change := s.Change
	if change == calls {
		change = "takes the calls before"
	}
	line := change + " " + strings.Join(names, ", ")
	if n := len(s.Frames) - maxNames; n > 0 {
		line += fmt.Sprintf(" and %d more", n)
	}
	switch s.Change {
	case uses:
		line += " from the return register"
	case restores:
		line += " from the branch records"
	}
	return line
}
