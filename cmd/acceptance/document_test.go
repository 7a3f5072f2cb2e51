package acceptance

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"stackmill/pipeline"
	"stackmill/queries"
	"stackmill/queries/export"
	sourcefiles "stackmill/stages/symbolize/source"
)

// TestDocumentSource checks that a document of several experiments sums the lines of the experiments that have the
// same text of a file. If texts differ, it shows the text with the highest value, and says how much of the function's
// value that is.
func TestDocumentSource(t *testing.T) {
	other := t.TempDir()
	text, err := os.ReadFile(filepath.Join(sources, "recur.c"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(other, "recur.c"), bytes.Replace(text, []byte("fact("), []byte("FACT("), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, second := range map[string]string{"one text": sources, "two texts": other} {
		t.Run(name, func(t *testing.T) {
			store := filepath.Join(t.TempDir(), "store")
			for recording, from := range map[string]string{"recur": sources, "recur_raw": second} {
				if _, err := pipeline.Ingest(context.Background(), pipeline.Options{Store: store, Jobs: 1, DebugDirs: []string{scratch},
					Sources: []sourcefiles.Rule{{From: compiledFrom, To: from}}}, filepath.Join(recordings, "exp", recording+".er")); err != nil {
					t.Fatal(err)
				}
			}
			db, err := queries.Open(t.Context(), store)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			var out bytes.Buffer
			if err := export.Write(t.Context(), db, export.Request{As: "html", Metric: "totalcpu", Mode: "user"}, &out); err != nil {
				t.Fatal(err)
			}
			where := "experiment IN ('recur.er', 'recur_raw.er')"
			if second == other {
				where = "experiment = 'recur.er'"
			}
			var want int64
			if err := db.QueryRow("SELECT sum(exclusive) FROM line_metrics WHERE function = 'fact' AND line = 4 AND metric = 'totalcpu' AND mode = 'user' AND " + where).Scan(&want); err != nil {
				t.Fatal(err)
			}
			section := regexp.MustCompile(`(?s)<h3 id="[^"]*">fact, .*?</table>`).FindString(out.String())
			line := regexp.MustCompile(`title="([0-9]+)[^"]*">[^<]*</td><td class="num h5">[^<]*</td><td class="num line">4</td><td class="text">([^<]*)`).FindStringSubmatch(section)
			if line == nil {
				t.Fatalf("no line 4 in %s", section)
			}
			if got, _ := strconv.ParseInt(line[1], 10, 64); got != want || !strings.Contains(line[2], "long fact(long n)") {
				t.Errorf("line 4 has %d, want %d: %s", got, want, line[2])
			}
			if is := strings.Contains(section, "other versions of the text"); is != (second == other) {
				t.Errorf("that it lacks something is said: %t", is)
			}
		})
	}
}
