package export

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// documented matches the queries of docs/store.md over the files, by the text before them.
var documented = map[string]*regexp.Regexp{
	"DuckDB": regexp.MustCompile("in any DuckDB:\n\n```sql\n([^`]*)```"),
	"Polars": regexp.MustCompile(`In Polars:\n\n[^"]*"""([^"]*)"""`),
}

// The documented queries over the files have the result of the view.
func TestDocumentedEngines(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/store.md")
	if err != nil {
		t.Fatal(err)
	}
	want := sorted(tableRows(t, store.DB, "SELECT function, sum(exclusive)::VARCHAR FROM function_metrics WHERE mode = 'user' AND metric = 'totalcpu' GROUP BY ALL"))
	if len(want) == 0 {
		t.Fatal("nothing to compare")
	}
	for engine, query := range documented {
		found := query.FindSubmatch(doc)
		if found == nil {
			t.Errorf("%s: no query in the documentation", engine)
			continue
		}
		sql := strings.ReplaceAll(string(found[1]), "'store/", "'"+store.Store+"/")
		var got [][]string
		for d := json.NewDecoder(bytes.NewReader(node(t, "engines.mjs", engine, sql))); d.More(); {
			var row []string
			if err := d.Decode(&row); err != nil {
				t.Fatal(err)
			}
			got = append(got, row)
		}
		if diff := gocmp.Diff(want, sorted(got)); diff != "" {
			t.Errorf("%s: -view +files\n%.2000s", engine, diff)
		}
	}
}
