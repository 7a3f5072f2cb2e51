package faults

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/sync/errgroup"

	"stackmill/queries"
)

// Concurrent ingests of the same recordings, which find different load objects and so write
// different tables, leave complete batches of one of them. The last one's catalog has all.
func TestIngestsMeet(t *testing.T) {
	b := newBench(t)
	rounds, ingests := 1, 4
	if *long {
		rounds, ingests = 60, 6
	}
	others, err := large("exp/cxx.er", "exp/heap.er")
	if err != nil {
		t.Fatal(err)
	}
	b.recordings = append(b.recordings, others...)
	alone := map[string]string{} // the tables of each ingest, if it is the only one
	ways := [][]string{nil, {"--symfs", t.TempDir()}}
	for i, way := range ways {
		store := filepath.Join(t.TempDir(), fmt.Sprint("alone", i))
		b.run(append([]string{b.binary}, b.ingest(store, way...)...)...)
		for name, sum := range content(t, store) {
			alone[name+sum] = sum
		}
	}
	for round := range rounds {
		store := filepath.Join(t.TempDir(), "store")
		var g errgroup.Group
		for i := range ingests {
			g.Go(func() error {
				out, err := exec.Command(b.binary, b.ingest(store, ways[i%len(ways)]...)...).CombinedOutput()
				var exit *exec.ExitError
				if errors.As(err, &exit) && exit.ExitCode() == 3 {
					return nil
				}
				if err != nil {
					err = fmt.Errorf("%w\n%s", err, out)
				}
				return err
			})
		}
		if err := g.Wait(); err != nil {
			t.Errorf("round %d: %v", round, err)
		}
		compared.Add(1)
		experiments := map[string]bool{}
		for name, sum := range content(t, store) {
			experiments[name[:16]] = true
			if alone[name+sum] == "" {
				different.Add(1)
				t.Errorf("round %d: %s is that of no ingest alone", round, name)
			}
		}
		if len(experiments) != len(b.recordings) {
			t.Errorf("round %d: %d experiments, want %d", round, len(experiments), len(b.recordings))
		}
		p, err := queries.Check(t.Context(), store, queries.CheckOptions{})
		if err != nil || len(p.Wrong)+len(p.Notes) > 0 {
			different.Add(1)
			t.Errorf("round %d: %v, %v", round, p, err)
		}
		if left := leftovers(t, store); len(left) > 0 {
			t.Errorf("round %d: left %v", round, left)
		}
	}
}

// Readers see complete experiments while others are ingested, replaced and repaired, and ingests
// are killed.
func TestReadersMeanwhile(t *testing.T) {
	b := newBench(t)
	store := filepath.Join(t.TempDir(), "store")
	if code, out := b.run(append([]string{b.binary}, b.ingest(store)...)...); code != 3 {
		t.Fatalf("exit status %d\n%s", code, out)
	}
	rounds := 3
	if *long {
		rounds = 100
	}
	ctx, stop := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	reads := 0
	readers.Go(func() {
		for ; ctx.Err() == nil || reads == 0; reads++ {
			if err := readAll(context.Background(), store); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for round := range rounds {
		// Other places for debug files: the recording that lost data is ingested again.
		more := []string{"--no-system-debug", "--debug-dir", filepath.Join(scratch, fmt.Sprint("none", round))}
		cmd := exec.Command(b.binary, b.ingest(store, more...)...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if round%3 == 2 {
			_ = cmd.Process.Kill()
		}
		_ = cmd.Wait()
	}
	stop()
	readers.Wait()
	t.Logf("%d reads", reads)
	b.mended("readers meanwhile", store)
}

// readAll reads a store as a report does.
func readAll(ctx context.Context, store string) error {
	db, err := queries.Open(ctx, store)
	if err != nil {
		return err
	}
	defer db.Close()
	var experiments, broken int
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM experiments").Scan(&experiments); err != nil {
		return err
	}
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM conservation").Scan(&broken); err != nil {
		return err
	}
	if experiments != len(names) || broken != 0 {
		return fmt.Errorf("%d experiments, %d broken sums", experiments, broken)
	}
	return nil
}

// The next ingest repairs a damaged commit, and removes what killed programs of any kind left.
func TestMended(t *testing.T) {
	b := newBench(t)
	store := filepath.Join(t.TempDir(), "store")
	b.run(append([]string{b.binary}, b.ingest(store)...)...)
	commits, err := filepath.Glob(filepath.Join(store, "commits", "*"))
	if err != nil || len(commits) != len(names) {
		t.Fatal(commits, err)
	}
	for _, dir := range []string{"staging/0123456789abcdef-1", ".catalog-1"} {
		if err := os.Mkdir(filepath.Join(store, dir), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range commits {
		if err := os.Truncate(c, 0); err != nil {
			t.Fatal(err)
		}
	}
	injected.Add(int64(len(commits)))
	if code, out := b.run(b.binary, "experiments", "--store", store); code != 0 {
		t.Errorf("exit status %d\n%s", code, out)
	}
	b.mended("empty commits", store)
}
