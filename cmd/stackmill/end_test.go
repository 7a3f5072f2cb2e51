package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A panic in a verb or in its SQL is one line, and the stack is in a file.
func TestPanicIsOneLine(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	mistake := func() error { panic("a mistake") }
	_, stuck := attend(t.Context(), 0, 1<<50, func(context.Context) error { return nil })
	byAttend, _ := attend(t.Context(), time.Hour, 1<<50, func(context.Context) error { return mistake() })
	for _, err := range []error{(&app{}).untilEnded(t.Context(), mistake), byAttend} {
		if err == nil || stuck || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "a mistake") || !strings.Contains(err.Error(), folder) {
			t.Errorf("%v", err)
		}
	}
	files, err := filepath.Glob(filepath.Join(folder, "stackmill-error-*.txt"))
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	if stack, err := os.ReadFile(files[0]); err != nil || !strings.Contains(string(stack), "end_test.go") {
		t.Errorf("%s %v", stack, err)
	}
}
