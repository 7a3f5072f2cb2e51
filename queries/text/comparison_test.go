package text

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"stackmill/internal/terminal"
	"stackmill/queries"
	"stackmill/queries/compare"
)

// TestComparisonWidths prints a comparison for terminals of several widths: no row of the table is
// wider than the terminal, each name has its last part, and columns that do not fit are named.
func TestComparisonWidths(t *testing.T) {
	result := &compare.Result{Request: compare.Defaults(), Unit: "ns", Base: compare.Side{Selectors: []string{"night=1"}, Runs: make([]queries.Experiment, 9)}, Test: compare.Side{Selectors: []string{"night=2"}, Runs: make([]queries.Experiment, 9)}}
	row := func(name string, base, test float64, verdict string) {
		result.Rows = append(result.Rows, compare.Row{Names: []string{name, "libengine.so.6.0.30", "", ""}, Base: base, Test: test, BaseN: 9, TestN: 9,
			Difference: test - base, Ratio: test / base, Low: test/base - 0.02, High: test/base + 0.015, P: 1e-9, Q: 2e-5, Judged: true, Noise: 0.013, Verdict: verdict})
	}
	row("<Total>", 61.2e9, 63.1e9, compare.Slower)
	row("std::_Hashtable<std::string, std::pair<std::string const, int>, std::allocator<int> >::_M_find_before_node(unsigned long, std::string const&, unsigned long) const", 11e9, 12.9e9, compare.Slower)
	row("engine::(anonymous namespace)::IndexReader<engine::Segment>::next_block", 1e9, 0.9e9, compare.Faster)
	row("main", 1e6, 1e6, compare.Same)
	lasts := []string{"<Total>", "_M_find_before_node(…)", "next_block", "main"}
	for width, dropped := range map[int]string{80: "Noise, q, Load object, Difference, Base s", 100: "Noise, q, Load object", 120: "Noise, q", 400: ""} {
		var b bytes.Buffer
		if err := Comparison(&terminal.Output{Stdout: &b, FixedWidth: width}, result, result.Rows); err != nil {
			t.Fatal(err)
		}
		title, rest, _ := strings.Cut(b.String(), "\n\n")
		_, table, _ := strings.Cut(rest, "\n\n")
		if !strings.HasPrefix(title, "std::_Hashtable") || !strings.Contains(title, "+17.3% (95 % interval +15.3% .. +18.8%), q < 0.0001; 1 other row changed; <Total> +3.1%") {
			t.Errorf("the title is %s", title)
		}
		for i, line := range strings.Split(strings.TrimSpace(table), "\n") {
			if n := len([]rune(line)); n > width {
				t.Errorf("at %d, a line has %d characters: %s", width, n, line)
			}
			if i >= 2 && i-2 < len(lasts) && width < 400 && !strings.Contains(line, lasts[i-2]) {
				t.Errorf("at %d, %s is missing: %s", width, lasts[i-2], line)
			}
		}
		if got := strings.Contains(table, "left out to fit the width: "+dropped+"\n"); got != (dropped != "") {
			t.Errorf("at %d, other columns than %q are left out:\n%s", width, dropped, table)
		}
	}
}

// TestHeadlines describes the largest change of comparisons in a sentence.
func TestHeadlines(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		rows []compare.Row
		want string
	}{
		{nil, "nothing can be compared: no row is judged"},
		{[]compare.Row{{Names: []string{"<Total>"}, Judged: true, Base: 1, Test: 1, Ratio: 1, Low: 0.9, High: 1.1, Q: 0.5, Verdict: compare.Same}},
			"no change is certain; the largest difference: <Total> +0.0% (95 % interval -10.0% .. +10.0%), q 0.5000"},
		{[]compare.Row{{Names: []string{"<Total>"}, Judged: true, Base: 1, Test: 2, Ratio: 2, Low: nan, High: nan, Q: nan, Verdict: compare.TooFew}},
			"too few runs to be sure of anything; the largest difference: <Total> +100.0%"},
		{[]compare.Row{{Names: []string{"<Total>"}, Judged: true, Base: 1, Test: 1, Ratio: 1, Q: 0.5, Verdict: compare.Same},
			{Names: []string{"f"}, Judged: true, Test: 3e9, Difference: 3e9, Ratio: math.Inf(1), Low: nan, High: nan, Q: 0.001, Verdict: compare.Appeared}},
			"f appeared (3.000 s), q 0.0010; <Total> +0.0% (same)"},
	} {
		if got := (&compare.Result{Request: compare.Defaults(), Unit: "ns", Rows: c.rows}).Headline(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
