package acceptance

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/internal/corpus"
	"stackmill/pipeline/compact"
	"stackmill/queries"
	"stackmill/schema"
	"stackmill/schema/storedir"
)

// A store of the previous format, with labels, a deleted experiment and a summary, has the same
// values after compact, which can be interrupted and continued.
func TestOlderStore(t *testing.T) {
	for _, version := range schema.OlderVersions {
		t.Run(version, func(t *testing.T) { testOlderStore(t, version) })
	}
}

func testOlderStore(t *testing.T, version string) {
	dir := t.TempDir()
	if err := corpus.Unpack(filepath.Join("..", "..", "testdata", "older", "store"+version+".tar.gz"), dir); err != nil {
		t.Fatal(err)
	}
	store := filepath.Join(dir, "store")
	if _, err := queries.Open(t.Context(), store); err == nil || !strings.Contains(err.Error(), `has store format "`+version+`"`) || !strings.Contains(err.Error(), "stackmill compact") {
		t.Fatalf("opened: %v", err)
	}
	options := compact.Options{Store: store, TargetSize: compact.DefaultSize, Memory: 1 << 30, Jobs: 1,
		Older: func(ctx context.Context, batches []*storedir.Batch) (compact.Older, error) {
			return queries.OpenOlder(ctx, store, queries.Limits{}, batches)
		}}

	contents, err := storedir.ReadContents(store)
	if err != nil {
		t.Fatal(err)
	}
	stopped, stop := context.WithCancel(t.Context())
	options.Progress = func(done, _ int64) {
		if done > 0 {
			stop()
		}
	}
	first, err := compact.Run(stopped, options)
	if err == nil || first.Rewritten != 1 {
		t.Fatalf("stopped after the first batch: %d of %d rewritten, %v", first.Rewritten, len(contents.Batches), err)
	}
	options.Progress = nil
	second, err := compact.Run(t.Context(), options)
	if err != nil || second.Rewritten != len(contents.Batches)-1 {
		t.Fatalf("%d of %d rewritten, %v", second.Rewritten, len(contents.Batches), err)
	}

	db, err := queries.Open(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	query, err := os.ReadFile(filepath.Join("..", "..", "testdata", "older", "sums.sql"))
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join("..", "..", "testdata", "older", "sums"+version+".csv"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := db.Texts(t.Context(), "SELECT concat_ws(',', what, experiment, mode, metric, rows, a, COALESCE(b::VARCHAR, '')) FROM ("+string(query)+")")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSpace(string(sums)), "\n")[1:]
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("values (-before +after):\n%s", diff)
	}
	proof, err := queries.Check(t.Context(), store, queries.CheckOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(proof.Wrong) > 0 {
		t.Error(proof.Wrong)
	}
}
