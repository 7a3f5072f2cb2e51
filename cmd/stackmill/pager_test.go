//go:build cgo

package main

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"stackmill/queries/storetest"
)

// onTerminal runs a verb whose output is a terminal, and returns the output.
func onTerminal(t *testing.T, args ...string) (shown string, status int) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	defer master.Close()
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 150})
	}
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	done := make(chan string)
	go func() {
		text, _ := io.ReadAll(master) // ends with an error when the terminal is closed
		done <- string(text)
	}()
	status = run(args, nil, slave, &errs)
	slave.Close()
	select {
	case shown = <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("the terminal stays open")
	}
	return strings.ReplaceAll(shown, "\r\n", "\n") + errs.String(), status
}

// Tables go through a pager and have colors only on a terminal.
func TestPager(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	report := []string{"report", "functions", "--store", store}
	const paged, bold = "page: ", "\x1b[1m"
	for _, test := range []struct {
		name          string
		env           map[string]string
		args          []string
		paged, colors bool
	}{
		{"a terminal", nil, nil, true, true},
		{"--no-pager", nil, []string{"--no-pager"}, false, true},
		{"no pager wanted", map[string]string{"STACKMILL_PAGER": ""}, nil, false, true},
		{"cat", map[string]string{"STACKMILL_PAGER": "cat"}, nil, false, true},
		{"NO_COLOR", map[string]string{"NO_COLOR": "1"}, nil, true, false},
		{"--color always", map[string]string{"NO_COLOR": "1"}, []string{"--color", "always"}, true, true},
		{"--color never", nil, []string{"--color", "never"}, true, false},
		{"a dumb terminal", map[string]string{"TERM": "dumb"}, nil, true, false},
		{"csv", nil, []string{"--format", "csv"}, false, false},
		{"markdown", nil, []string{"--format", "markdown"}, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, name := range []string{"NO_COLOR", "PAGER"} {
				t.Setenv(name, "")
			}
			t.Setenv("TERM", "xterm")
			t.Setenv("STACKMILL_PAGER", "sed 's/^/"+paged+"/'")
			for name, value := range test.env {
				t.Setenv(name, value)
			}
			shown, status := onTerminal(t, append(report, test.args...)...)
			if status != 0 || !strings.Contains(shown, "main") {
				t.Fatalf("status %d: %s", status, shown)
			}
			if is := strings.HasPrefix(shown, paged); is != test.paged {
				t.Errorf("paged: %v\n%s", is, shown)
			}
			if is := strings.Contains(shown, bold); is != test.colors {
				t.Errorf("colors: %v\n%q", is, shown)
			}
		})
	}
	t.Setenv("TERM", "xterm")
	t.Setenv("STACKMILL_PAGER", "sed 's/^/"+paged+"/'")
	if out, _, _ := call(report...); strings.Contains(out, paged) || strings.Contains(out, "\x1b") {
		t.Errorf("a pipe gets %q", out)
	}
	if out, _, _ := call(append(report, "--color", "always")...); !strings.Contains(out, bold) {
		t.Errorf("with --color always, a pipe gets %q", out)
	}
}

// The user may leave the pager early. If the pager does not exist, the output is printed without it.
func TestPagerFails(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	t.Setenv("STACKMILL_PAGER", "true")
	if shown, status := onTerminal(t, "report", "functions", "--store", store); status != 0 || strings.Contains(shown, "broken pipe") {
		t.Errorf("status %d: %s", status, shown)
	}
	t.Setenv("STACKMILL_PAGER", "nosuchpager -x")
	if shown, status := onTerminal(t, "report", "functions", "--store", store); status != 0 || !strings.Contains(shown, "main") || !strings.Contains(shown, "no pager: ") {
		t.Errorf("status %d: %s", status, shown)
	}
}
