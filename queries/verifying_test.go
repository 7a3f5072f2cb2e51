package queries

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stackmill/queries/storetest"
	"stackmill/queries/verify"
)

// doubts returns what package verify cannot verify of a store.
func doubts(t *testing.T, store string) (found []error) {
	t.Helper()
	_, c, _, err := readCommits(store, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range c.Batches {
		list, err := verify.Batch(t.Context(), store, &c.Batches[i], checkMemory, func() {})
		if err != nil {
			found = append(found, err)
		}
		for _, d := range list {
			found = append(found, d.Err)
		}
	}
	return found
}

func TestAllIsProvedWithoutSQL(t *testing.T) {
	if found := doubts(t, storetest.New(t, storetest.Two)); found != nil {
		t.Error(found)
	}
	if found := doubts(t, storetest.New(t, storetest.Data)); len(found) != 1 || !errors.Is(found[0], verify.ErrData) {
		t.Error(found)
	}
}

// A number that breaks an invariant must be doubted, or no check would find it. Each number of a
// store is changed in turn; if there is no doubt, all invariants must hold.
func TestChangedNumbersAreDoubted(t *testing.T) {
	lines := strings.Split(storetest.Two, "\n")
	table, changed := "", 0
	for n, line := range lines {
		fields := strings.Fields(line)
		if len(fields) == 0 || line[0] == '#' {
			continue
		}
		if line[0] != ' ' {
			table = fields[0]
			continue
		}
		for i, old := range fields {
			var digits int64
			unit := ""
			if _, err := fmt.Sscanf(old, "%d%s", &digits, &unit); err != nil && unit == "" && fmt.Sprint(digits) != old {
				continue
			}
			// All numbers would take minutes.
			if changed++; os.Getenv("STACKMILL_SOAK") == "" && changed%331 != 0 {
				continue
			}
			other := append([]string{}, fields...)
			other[i] = fmt.Sprint(digits+1) + unit
			text := strings.Join(append(append(append([]string{}, lines[:n]...), "  "+strings.Join(other, " ")), lines[n+1:]...), "\n")
			dir := t.TempDir()
			if storetest.Build(dir, text) != nil {
				continue // no such text
			}
			if doubts(t, dir) != nil {
				continue
			}
			for _, w := range wrongBySQL(t, dir, func(string) bool { return true }) {
				t.Errorf("%s: %q with %s: not doubted: %v", table, line, other[i], w)
			}
		}
	}
	if changed < 500 {
		t.Errorf("only %d numbers", changed)
	}
}

// wrongBySQL returns what the invariants of some views find.
func wrongBySQL(t *testing.T, store string, about func(view string) bool) []Finding {
	t.Helper()
	store, c, _, err := readCommits(store, nil)
	if err != nil {
		t.Fatal(err)
	}
	var p CheckReport
	if err := p.checkBySQL(t.Context(), store, c.Batches, about, Limits{}, func(string, int, int) {}); err != nil {
		t.Fatal(err)
	}
	return p.Wrong
}

func TestCheckSince(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	const samples = "tables/samples/00000000000000aa.parquet"
	path := filepath.Join(store, samples)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	content[100] ^= 1
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	committed := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, test := range []struct {
		name   string
		o      CheckOptions
		wrong  bool
		before int
	}{
		{"all", CheckOptions{}, true, 0},
		{"when it was committed", CheckOptions{Since: committed}, true, 0},
		{"later", CheckOptions{Since: committed.Add(time.Second)}, false, 2},
		{"its batch", CheckOptions{SinceBatch: "00000000000000aa"}, true, 0},
	} {
		p, err := Check(context.Background(), store, test.o)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Wrong) > 0 != test.wrong || p.LeftOut.Batches != test.before || p.LeftOut.Experiments != test.before {
			t.Errorf("%s: %v, left out %v", test.name, p.Wrong, p.LeftOut)
		}
	}
	if _, err := Check(context.Background(), store, CheckOptions{SinceBatch: "other"}); err == nil {
		t.Error("no error for a batch that is not there")
	}
	if err := os.Truncate(path, 10); err != nil {
		t.Fatal(err)
	}
	p, err := Check(context.Background(), store, CheckOptions{Since: committed.Add(time.Second)})
	if err != nil || len(p.Wrong) == 0 {
		t.Errorf("a file that was cut is not found: %v", err)
	}
}
