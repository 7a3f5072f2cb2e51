package serve

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/queries/storetest"
)

// infinityQuery is a request in the form in which Grafana's Infinity data source has it.
type infinityQuery struct {
	Format  string
	URL     string
	Options struct {
		Method string
		Type   string `json:"body_content_type"`
		Data   string
	} `json:"url_options"`
	Columns []struct{ Selector, Text, Type string }
}

// dashboard has the parts of Grafana's dashboard file that lead to requests.
type dashboard struct {
	Templating struct {
		List []struct {
			Name, Type string
			Query      json.RawMessage
		}
	}
	Panels []struct {
		Title   string
		Targets []infinityQuery
	}
}

// variable matches a variable of the dashboard in a request.
var variable = regexp.MustCompile(`\$\{?(\w+)(:sqlstring)?\}?`)

// The server answers the requests of the dashboard for Grafana with the columns and types that the
// dashboard names, and with the store's values.
func TestDashboard(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "dashboards", "grafana.json"))
	if err != nil {
		t.Fatal(err)
	}
	var d dashboard
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	s := start(t, storetest.New(t, storetest.Two), nil)
	values := map[string]string{"__from": "0", "__to": "4000000000000"}
	ask := func(name string, q infinityQuery) (rows []map[string]any) {
		t.Helper()
		body := variable.ReplaceAllStringFunc(q.Options.Data, func(text string) string {
			m := variable.FindStringSubmatch(text)
			v, ok := values[m[1]]
			if !ok {
				t.Errorf("%s: there is no variable %s", name, text)
			}
			if m[2] != "" {
				v = "'" + strings.ReplaceAll(v, "'", "''") + "'"
			}
			return v
		})
		response, answer := s.ask(q.Options.Method, q.URL, body, "Content-Type", q.Options.Type)
		if response.StatusCode != http.StatusOK || response.Header.Get("Stackmill-Warning") != "" {
			t.Fatalf("%s: %s: %s %s", name, response.Status, answer, response.Header.Get("Stackmill-Warning"))
		}
		if err := json.Unmarshal(answer, &rows); err != nil {
			t.Fatal(err)
		}
		if len(rows) == 0 {
			t.Errorf("%s: no rows", name)
		}
		for _, row := range rows {
			if len(row) != len(q.Columns) {
				t.Errorf("%s: %v; the dashboard has %v", name, row, q.Columns)
			}
			for _, c := range q.Columns {
				isText := false
				switch v := row[c.Selector].(type) {
				case string:
					isText = true
				case float64:
				default:
					t.Errorf("%s: %s is %v", name, c.Selector, v)
				}
				if isText != (c.Type == "string") {
					t.Errorf("%s: %s is %v; the dashboard says %s", name, c.Selector, row[c.Selector], c.Type)
				}
			}
		}
		return rows
	}
	for _, v := range d.Templating.List {
		if v.Type != "query" {
			continue
		}
		var of struct{ InfinityQuery infinityQuery }
		if err := json.Unmarshal(v.Query, &of); err != nil {
			t.Fatal(err)
		}
		rows := ask(v.Name, of.InfinityQuery)
		values[v.Name] = rows[0]["value"].(string)
		for _, row := range rows { // chooses the metric of the experiment that has a start time
			if row["value"] == "totalcpu" {
				values[v.Name] = "totalcpu"
			}
		}
	}
	got := map[string][]map[string]any{}
	for _, p := range d.Panels {
		for _, q := range p.Targets {
			got[p.Title] = ask(p.Title, q)
		}
	}
	for title, sql := range map[string]string{
		"$metric by $label":    "SELECT epoch_ms(started) AS time, host AS series, inclusive / 1e9 AS value FROM function_metrics JOIN experiments USING (experiment_id) WHERE function = '<Total>' AND metric = 'totalcpu' AND mode = 'user' ORDER BY ALL",
		"$function, exclusive": "SELECT epoch_ms(started) AS time, host AS series, exclusive / 1e9 AS value FROM function_metrics JOIN experiments USING (experiment_id) WHERE function = 'g' AND metric = 'totalcpu' AND mode = 'user' ORDER BY ALL",
		"Experiments":          "SELECT count(started) AS experiments FROM experiments",
	} {
		_, answer := s.sql(sql)
		var rows []map[string]any
		if err := json.Unmarshal([]byte(answer), &rows); err != nil {
			t.Fatalf("%s: %s", title, answer)
		}
		if d := cmp.Diff(rows, got[title]); d != "" {
			t.Errorf("%s (-SQL +dashboard):\n%s", title, d)
		}
	}
}
