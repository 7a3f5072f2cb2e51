package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"stackmill/cmd/acceptance/suite"
	"stackmill/internal/corpus"
)

// After some nights with upkeep, the store has exactly the right experiments, is intact, and has
// few files.
func TestYear(t *testing.T) {
	dir := t.TempDir()
	shared, err := sharedObjects(filepath.Join(dir, "objects"))
	if err != nil {
		t.Fatal(err)
	}
	l := life{program: filepath.Join(dir, "stackmill"), cache: filepath.Join(dir, "cache"), dir: filepath.Join(dir, "year"), shared: shared,
		nights: 8, jobs: 2, stay: 3, week: 4, month: 4}
	if err := suite.Build(l.program); err != nil {
		t.Fatal(err)
	}
	months, err := l.run()
	if err != nil {
		t.Fatal(err)
	}
	if len(months) != 2 || months[1].whole != 4*l.jobs || months[1].summaries != 2*l.jobs {
		t.Errorf("%+v", months)
	}
	for _, m := range months {
		if m.files > 50 { // one merged batch and a few others
			t.Errorf("%d files", m.files)
		}
	}
}

func TestMain(m *testing.M) {
	// measure starts a copy of this program.
	if len(os.Args) > 2 && os.Args[1] == measured {
		os.Exit(measureHere(os.Args[2], os.Args[3:]...))
	}
	code := m.Run()
	if err := corpus.Remove(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
