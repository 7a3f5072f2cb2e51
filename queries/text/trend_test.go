//go:build cgo

package text

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"stackmill/internal/terminal"
	"stackmill/queries/rank"
	"stackmill/queries/trend"
)

// series prints a trend of n nights, of which the last ten take 30 % more, and returns the output.
func series(t *testing.T, n, width int, unit string, factor float64, form TrendForm) (lines []string) {
	t.Helper()
	r := &trend.Result{Request: trend.Defaults(), Unit: unit, Matched: 1}
	r.Metric = "cpu-clock"
	s := trend.Series{Function: "search", LoadObject: "nightly"}
	for i := range n {
		r.Points = append(r.Points, trend.Point{Experiment: fmt.Sprintf("a-rather-long-name-of-a-recording-%03d.data", i), Started: fmt.Sprintf("2026-%02d-%02dT01:59:59Z", 1+i/28, 1+i%28), StartedFrom: "file", Host: "web7", Target: "nightly"})
		v := 100 + float64(i%3)
		if i >= n-10 {
			v *= 1.3
		}
		s.Values = append(s.Values, v*factor)
	}
	s.Changes = []rank.Change{{At: n - 10, Before: 101 * factor, After: 131 * factor, P: 1e-8, State: rank.Maybe}}
	r.Series = []trend.Series{s}
	var out bytes.Buffer
	if err := Trend(&terminal.Output{Stdout: &out, FixedWidth: width}, r, form); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimRight(out.String(), "\n"), "\n")
}

// TestTrendWidth checks that a trend fits a terminal of 80 columns, however many nights it has, and
// that the mark of the change is below the first high column.
func TestTrendWidth(t *testing.T) {
	for _, n := range []int{20, 76, 200} {
		lines := series(t, n, 80, "ns", 1e6, TrendForm{Points: 3, UTF8: true})
		for _, line := range lines {
			if utf8.RuneCountInString(line) > 80 {
				t.Errorf("%d nights: %q", n, line)
			}
		}
		drawn, mark := []rune(lines[4]), strings.Index(lines[5], "^")
		if min(n, 76)+2 != len(drawn) || drawn[mark] != '█' || drawn[mark-2] > '▃' {
			t.Errorf("%d nights: %q, the mark is at %d", n, lines[4], mark)
		}
		if !strings.Contains(strings.Join(lines, "\n"), "101.0 ms  131.0 ms  +29.7%  1e-08  maybe  ") || lines[len(lines)-1] != fmt.Sprintf("%d earlier values (--points 0 prints all)", n-3) {
			t.Errorf("%d nights:\n%s", n, strings.Join(lines, "\n"))
		}
	}
}

// TestTrendUnits checks that the output is ASCII without UTF-8, and that units suit the values.
func TestTrendUnits(t *testing.T) {
	for _, x := range []struct {
		unit   string
		factor float64
		want   string
	}{
		{"ns", 1e9, "first 100.0, last 131.3, median 102.0, from 100.0 to 132.6 s"},
		{"ns", 1e7, "first 1.000, last 1.313, median 1.020, from 1.000 to 1.326 s"},
		{"ns", 10, "first 1.000, last 1.313, median 1.020, from 1.000 to 1.326 us"},
		{"bytes", 1, "first 100, last 131, median 102, from 100 to 133 bytes"},
		{"bytes", 1 << 20, "first 100.0, last 131.3, median 102.0, from 100.0 to 132.6 MiB"},
		{"count", 1000, "first 100000, last 131300, median 102000, from 100000 to 132600"},
	} {
		text := strings.Join(series(t, 32, 0, x.unit, x.factor, TrendForm{Points: -1}), "\n")
		if !strings.Contains(text, x.want) || strings.ContainsFunc(text, func(r rune) bool { return r > 126 }) {
			t.Errorf("want %s in\n%s", x.want, text)
		}
	}
}

// In Markdown, the text after a table is a paragraph of its own.
func TestTrendMarkdown(t *testing.T) {
	lines := series(t, 20, 80, "ns", 1e6, TrendForm{Points: 3, Markdown: true})
	if n := len(lines); lines[n-1] != "17 earlier values (--points 0 prints all)" || lines[n-2] != "" || !strings.HasPrefix(lines[n-3], "| ") {
		t.Errorf("%q", lines[n-3:])
	}
}
