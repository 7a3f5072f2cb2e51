package main

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stackmill/internal/crash"
	"stackmill/internal/terminal"
	"stackmill/pipeline"
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

// An internal error that costs a recording is one line on a terminal, with its
// stack in a file; where ingest logs, all is in the line of the log.
func TestInternalErrorOfARecording(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	failed := pipeline.Result{Path: "a.er", Status: pipeline.Failed, Elapsed: time.Second,
		Err: &pipeline.InternalError{Value: "a mistake", Stack: []byte("goroutine 1:\nwhere it was")}}
	for _, onTerminal := range []bool{true, false} {
		var stdout, stderr bytes.Buffer
		s := summary{app: &app{Output: terminal.Output{Stdout: &stdout, Stderr: &stderr}}, results: []pipeline.Result{failed}}
		if !onTerminal {
			s.log = slog.New(slog.DiscardHandler)
		}
		if err := s.print(time.Second); err == nil {
			t.Error("it succeeds")
		}
		said := stderr.String()
		if !onTerminal {
			if said != "" {
				t.Errorf("said besides the log: %s", said)
			}
		} else if strings.Count(said, "\n") != 1 || !strings.Contains(said, "a mistake") || strings.Contains(said, "goroutine") || !strings.Contains(said, folder) {
			t.Errorf("on a terminal: %s", said)
		}
	}
	files, err := filepath.Glob(filepath.Join(folder, "stackmill-error-*.txt"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if stack, err := os.ReadFile(files[0]); err != nil || !strings.Contains(string(stack), "where it was") {
		t.Errorf("%s %v", stack, err)
	}
	var log bytes.Buffer
	logResult(slog.New(slog.NewTextHandler(&log, nil)), failed)
	if said := log.String(); strings.Count(said, "\n") != 1 || !strings.Contains(said, "a mistake") || !strings.Contains(said, "where it was") {
		t.Error(said)
	}
}
