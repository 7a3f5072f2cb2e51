package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// summary counts the results of all mutants.
type summary struct {
	mutants, failed int
	counts          map[string]int // number of failed mutants, by kind of failure
	statuses        [5]int
	largest         int64 // highest memory of a run, in bytes
}

// kinds are the kinds of failures, in the order of the summary. A failure's text begins with the
// name of its kind.
var kinds = []struct{ name, title string }{
	{"crash", "crashes"},
	{"hang", fmt.Sprintf("hangs over %s", hang)},
	{"memory", "memory over twice --memory"},
	{"store", "stores that cannot be read"},
	{"check", "stores that check finds wrong"},
	{"loss in silence", "losses without an error or warning"},
	{"terminal", "control characters printed"},
}

func (s *summary) print(w io.Writer) {
	fmt.Fprintf(w, "%d mutants: %d ingested, %d with reported losses, %d refused; at most %s of memory\n",
		s.mutants, s.statuses[0], s.statuses[3], s.statuses[1], mega(s.largest))
	for _, k := range kinds {
		fmt.Fprintf(w, "  %-36s %d\n", k.title, s.counts[k.name])
	}
}

// report adds a mutant to the summary. If the mutant failed, it keeps the files and a description.
func (t *tester) report(s *specimen) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sum.mutants++
	if s.o.Status >= 0 && s.o.Status < len(t.sum.statuses) {
		t.sum.statuses[s.o.Status]++
	}
	t.sum.largest = max(t.sum.largest, s.o.RSS)
	seen := map[string]bool{}
	for _, f := range s.failed {
		kind, _, _ := strings.Cut(f, ":")
		for _, k := range kinds {
			if k.name == kind && !seen[kind] {
				seen[kind] = true
				t.sum.counts[kind]++
			}
		}
	}
	if t.verbose {
		fmt.Fprintf(t.out, "%s: %s\n  exit status %d, %s\n", s.name(), strings.Join(s.words, "; "), s.o.Status, mega(s.o.RSS))
	}
	if len(s.failed) > 0 {
		t.sum.failed++
		fmt.Fprintf(t.out, "FAIL %s\n  %s\n  again: %s\n", s.name(), strings.Join(s.words, "; "), s.again())
		for _, f := range s.failed {
			fmt.Fprintln(t.out, "  "+strings.ReplaceAll(strings.TrimSpace(f), "\n", "\n    "))
		}
	}
	if t.keep == "" || len(s.failed) == 0 && t.count > 1 {
		return nil
	}
	return t.preserve(s)
}

// preserve writes a mutant and its description into a folder below the one given with -keep.
func (t *tester) preserve(s *specimen) error {
	dir := filepath.Join(t.keep, s.name())
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := s.rec.write(dir); err != nil {
		return err
	}
	text := fmt.Sprintf("%s\n\n%s\n\nagain: %s\ningest: exit status %d, %s\n\n%s\n\nstandard output:\n%s\nstandard error:\n%s\n", s.name(), strings.Join(s.words, "\n"), s.again(),
		s.o.Status, mega(s.o.RSS), strings.Join(s.failed, "\n"), s.o.stdout, s.o.stderr)
	return os.WriteFile(filepath.Join(dir, "DAMAGE.txt"), []byte(text), 0o644)
}
