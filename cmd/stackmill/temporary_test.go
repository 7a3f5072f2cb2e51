package main

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"stackmill/internal/exit"
	"stackmill/queries/storetest"
)

// The program removes its temporary directory at the end, even if SQL does not stop, or on a
// signal.
func TestNothingIsLeft(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	for _, statement := range []string{"SELECT sleep_ms(600_000)", "SELECT length(lpad('x', 2_000_000_000, 'y'))", "SELECT count(*) FROM range(10_000_000) a, range(10_000_000) b WHERE a.range + b.range = -1"} {
		temp := t.TempDir()
		c := program(t, "query", "--store", store, "--threads", "1", statement)
		c.Env = append(os.Environ(), "TMPDIR="+temp)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		for dirs, _ := os.ReadDir(temp); len(dirs) == 0; dirs, _ = os.ReadDir(temp) {
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(100 * time.Millisecond) // by then it usually runs
		if err := c.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		var ended *exec.ExitError
		if err := c.Wait(); !errors.As(err, &ended) || ended.ExitCode() != exit.Failed {
			t.Errorf("%s: %v", statement, err)
		}
		if dirs, _ := os.ReadDir(temp); len(dirs) > 0 {
			t.Errorf("%s: %s is left", statement, dirs[0].Name())
		}
	}
}
