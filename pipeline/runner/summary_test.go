package runner

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"stackmill/internal/terminal"
	"stackmill/pipeline"
	"stackmill/schema/diagnostic"
)

// Many recordings with the same reason take only a few lines on a terminal.
func TestManyAreFewLines(t *testing.T) {
	var results []pipeline.Result
	for i := range 41 {
		results = append(results, pipeline.Result{Path: fmt.Sprintf("e%02d.er", i), Status: pipeline.Partial, Elapsed: time.Second,
			Problems: []diagnostic.Problem{{Severity: diagnostic.Error, Reason: "missing-file", Message: "the experiment has no log", Count: 1}}})
		if i > 0 {
			results = append(results, pipeline.Result{Path: fmt.Sprintf("%02d.perf.data", i), Status: pipeline.Failed, Elapsed: time.Second,
				Err: fmt.Errorf("open %d: %w", i, errors.New("not a recording of a known format"))})
		}
	}
	var stdout, stderr bytes.Buffer
	s := summary{Output: &terminal.Output{Stdout: &stdout, Stderr: &stderr}, results: results}
	if err := s.print(time.Second); err == nil {
		t.Error("nothing was lost")
	}
	countLines(t, stderr.String(), map[string]int{
		"stackmill: .*: the experiment has no log":                           maxPrinted,
		"stackmill: the same for 36 more: missing-file":                      1,
		"stackmill: .*: open .*: not a recording of a known format":          maxPrinted,
		"stackmill: the same for 35 more: not a recording of a known format": 1,
	})
}

// countLines checks how many lines of a text match each expression at their start.
func countLines(t *testing.T, text string, want map[string]int) {
	t.Helper()
	for what, n := range want {
		if got := regexp.MustCompile("(?m)^(time=\\S+ )?"+what).FindAllString(text, -1); len(got) != n {
			t.Errorf("%d lines begin with %s, not %d", len(got), what, n)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

// An internal error in a recording is one line on a terminal, with the stack in a file; a log line
// has the stack itself.
func TestInternalErrorOfARecording(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	failed := pipeline.Result{Path: "a.er", Status: pipeline.Failed, Elapsed: time.Second,
		Err: &pipeline.InternalError{Value: "a mistake", Stack: []byte("goroutine 1:\nwhere it was")}}
	for _, onTerminal := range []bool{true, false} {
		var stdout, stderr bytes.Buffer
		s := summary{Output: &terminal.Output{Stdout: &stdout, Stderr: &stderr}, results: []pipeline.Result{failed}}
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
