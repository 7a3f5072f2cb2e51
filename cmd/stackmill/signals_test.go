package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stackmill/internal/crash"
)

// A panic in a verb or in its SQL is one line, and the stack is in a file.
func TestPanicIsOneLine(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	mistake := func() error { panic("a mistake") }
	for _, err := range []error{(&app{}).runVerb(t.Context(), mistake), crash.Catch(mistake)} {
		if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "a mistake") || !strings.Contains(err.Error(), folder) {
			t.Errorf("%v", err)
		}
	}
	files, err := filepath.Glob(filepath.Join(folder, "stackmill-error-*.txt"))
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	if stack, err := os.ReadFile(files[0]); err != nil || !strings.Contains(string(stack), "signals_test.go") {
		t.Errorf("%s %v", stack, err)
	}
}
