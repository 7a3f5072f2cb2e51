package html

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"stackmill/queries/flametree"
)

// written returns a page as text.
func written(t *testing.T, p *Page) string {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, p); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestLimit checks that a document has at most MaxSize bytes, however large the contents are, keeps its sums, and
// says what it leaves out.
func TestLimit(t *testing.T) {
	tree := flametree.New(0)
	root := tree.Child(-1, tree.Intern(flametree.Function{Name: "<Total>"}))
	for i := range 15_000 {
		n := tree.Child(root, tree.Intern(flametree.Function{Name: fmt.Sprintf("f%d%s", i, strings.Repeat("<&>", i%700)), LoadObject: "o"}))
		tree.Nodes[n].Value, tree.Nodes[n].Exclusive = int64(i), int64(i)
		tree.Nodes[root].Value += int64(i)
	}
	rows, lines := make([]Row, 12_000), make([]SourceLine, 12_000)
	for i := range rows {
		rows[i] = Row{Cells: []Cell{{Text: fmt.Sprint(i), Exact: fmt.Sprint(i), Share: 0.5, Interval: &Interval{-0.1, 0, 0.1}}, {Text: strings.Repeat("<'>", i%500)}}}
		lines[i] = SourceLine{Number: int64(i + 1), Text: "<b>", Value: "1"}
	}
	text := written(t, &Page{Title: "large", Sections: []Section{
		{Title: "flame", Flame: &FlameGraph{Tree: tree, Head: flametree.Head{Metric: "m", Nodes: len(tree.Nodes), Total: tree.Total()}}},
		{Title: "table", Table: &Table{Columns: []Column{{Name: "a", Numeric: true, Equal: 0.01}, {Name: "b", Long: true}}, Rows: rows, All: "--format csv"}},
		{Title: "source", Sources: []Source{{Title: "short", Lines: lines[:3]}, {Title: "long", Lines: lines}}},
		{Title: "text", Text: strings.Repeat("<line>\n", 300_000)},
	}})
	if len(text) > MaxSize || len(text) < MaxSize/2 {
		t.Errorf("the document has %d bytes", len(text))
	}
	for _, want := range []string{`nodes\. The others are summed`, `[0-9]+ of 12000 rows are shown \(--format csv\)`, `The document has no room for the text`, `no room for the rest`, `characters more\)`} {
		if !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("it does not say %q", want)
		}
	}
	if n := strings.Count(text, "<td"); n < 500 {
		t.Errorf("%d cells are shown", n)
	}
	data := regexp.MustCompile(`(?s)<script type="application/json">(.*?)</script>`).FindStringSubmatch(text)[1]
	var graph struct {
		Total, Nodes     int64
		Value, Exclusive []int64
	}
	if err := json.Unmarshal([]byte(data), &graph); err != nil {
		t.Fatal(err)
	}
	var sum int64
	for _, v := range graph.Exclusive {
		sum += v
	}
	if graph.Total != tree.Total() || sum != graph.Total || graph.Nodes != 15_001 || len(graph.Value) < 100 {
		t.Errorf("%d nodes of %d have %d of %d", len(graph.Value), graph.Nodes, sum, graph.Total)
	}
}

// TestPolicy checks that the policy of a document allows the scripts in it, and nothing else.
func TestPolicy(t *testing.T) {
	tree := flametree.New(0)
	tree.Nodes[tree.Child(-1, tree.Intern(flametree.Function{Name: "<Total>"}))].Value = 1
	for name, sections := range map[string][]Section{"tables": nil, "flame graph": {{Flame: &FlameGraph{Tree: tree}}}} {
		text := written(t, &Page{Title: "policy", Sections: sections})
		want := "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; script-src"
		for _, script := range regexp.MustCompile(`(?s)<script>(.*?)</script>`).FindAllStringSubmatch(text, -1) {
			hash := sha256.Sum256([]byte(script[1]))
			want += " 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'"
		}
		policy := regexp.MustCompile(`<meta http-equiv="Content-Security-Policy" content="(.*?)">`).FindStringSubmatch(text)[1]
		if policy = strings.NewReplacer("&#39;", "'", "&#43;", "+").Replace(policy); policy != want || len(sections)+1 != strings.Count(want, "sha256") {
			t.Errorf("%s: the policy is %s, want %s", name, policy, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for _, test := range []struct {
		value float64
		unit  string
		want  string
	}{
		{0, "ns", "0"}, {9.944e9, "ns", "9.94 s"}, {999.6e3, "ns", "1.00 ms"}, {465.2e6, "ns", "465 ms"}, {1.359e12, "ns", "1359 s"}, {102_000, "ns", "102 µs"}, {7, "ns", "7 ns"}, {-1.5e9, "ns", "−1.50 s"},
		{12.34 * (1 << 20), "bytes", "12.3 MiB"}, {1023, "bytes", "1023 B"}, {512, "bytes", "512 B"},
		{9999, "count", "9999"}, {10_000, "count", "10 k"}, {12_345_678, "count", "12.3 M"}, {0.25, "count", "0.250"}, {5, "other", "5 other"},
	} {
		if got := strings.ReplaceAll(Amount(test.value, test.unit), thin, " "); got != test.want {
			t.Errorf("%g %s is %q, want %q", test.value, test.unit, got, test.want)
		}
	}
	for _, test := range []struct {
		part, whole float64
		want        string
	}{{1, 3, "33.3 %"}, {0, 3, "0"}, {1, 0, "0"}, {1, 100_000, "< 0.1 %"}, {3, 3, "100.0 %"}} {
		if got := strings.ReplaceAll(Share(test.part, test.whole), thin, " "); got != test.want {
			t.Errorf("%g of %g is %q, want %q", test.part, test.whole, got, test.want)
		}
	}
}

// TestInvisible checks that characters that reorder or hide text are shown as escapes.
func TestInvisible(t *testing.T) {
	text := written(t, &Page{Title: "a\u202eb", Facts: []Fact{{"host", "c\u200bd"}}, Sections: []Section{{Title: "s", Table: &Table{Columns: []Column{{Name: "n"}}, Rows: []Row{{Cells: Texts("e\x1b[2Jf")}}}}}})
	for _, want := range []string{`a\u202eb`, `c\u200bd`, `e\x1b[2Jf`} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in the document", want)
		}
	}
}
