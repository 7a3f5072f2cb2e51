//go:build cgo

package text

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"stackmill/internal/terminal"
	"stackmill/queries/compare"
	"stackmill/queries/html"
)

// madeBy is the last line of documents.
const madeBy = "Written by stackmill."

// printDocument prints the report as a self-contained document: its caption, and its tables or drawings.
func (r *Report) printDocument(ctx context.Context) error {
	remarks, err := r.DB.Remarks(ctx)
	if err != nil {
		return err
	}
	printed := &printedParts{}
	as := *r
	as.Format = "table"
	as.Output = &terminal.Output{Stdout: &printed.text, Stderr: r.Stderr, Tables: printed.table}
	if err := as.Print(ctx); err != nil {
		return err
	}
	printed.end()
	caption, sections := printed.sections(r.Title)
	title, _, _ := strings.Cut(caption[0], " (--") // without the option that shows something else
	p := &html.Page{Title: title, Warnings: remarks, Sections: sections, Made: madeBy}
	if len(caption) > 1 {
		p.Lead = strings.Join(caption[1:], "; ")
	}
	return html.Write(r.Stdout, p)
}

// printedParts collects the output of a report: texts, and tables between them.
type printedParts struct {
	text  bytes.Buffer // the text since the last table
	parts []printedPart
}

// printedPart is a text or a table.
type printedPart struct {
	text  string
	table *html.Table
}

// table adds a table, for terminal.Output.
func (p *printedParts) table(fields []terminal.Field, rows [][]string) error {
	p.end()
	p.parts = append(p.parts, printedPart{table: tableOf(fields, rows)})
	return nil
}

// end adds the text since the last table.
func (p *printedParts) end() {
	if p.text.Len() > 0 {
		p.parts = append(p.parts, printedPart{text: p.text.String()})
		p.text.Reset()
	}
}

// sections returns the lines of the caption, which ends at an empty line, and sections with the rest of the output.
// Text after a table describes the rows that the table leaves out.
func (p *printedParts) sections(title string) (caption []string, all []html.Section) {
	first := ""
	if len(p.parts) > 0 && p.parts[0].table == nil {
		first, p.parts[0].text, _ = strings.Cut(p.parts[0].text, "\n\n")
	}
	caption = strings.Split(strings.TrimRight(first, "\n"), "\n")
	for _, part := range p.parts {
		last := len(all) - 1
		switch text := strings.Trim(part.text, "\n"); {
		case part.table != nil:
			all = append(all, html.Section{Title: title, Table: part.table})
		case text == "":
		case last >= 0 && all[last].Table != nil:
			all[last].Notes = append(all[last].Notes, strings.Split(text, "\n")...)
		default:
			all = append(all, html.Section{Title: title, Text: strings.TrimRight(part.text, "\n")})
		}
	}
	return caption, all
}

// tableOf returns a table of a report. A value before its percentage has a bar.
func tableOf(fields []terminal.Field, rows [][]string) *html.Table {
	t := &html.Table{All: "--format csv prints all"}
	for _, f := range fields {
		t.Columns = append(t.Columns, html.Column{Name: f.Name, Numeric: f.Numeric, Minor: f.Drop > 0})
	}
	if i := nameColumn(fields); i >= 0 {
		t.Columns[i].Long, t.Columns[i].Minor = true, false
	}
	for _, texts := range rows {
		cells := html.Texts(texts...)
		for i := range cells {
			if i+1 < len(fields) && fields[i+1].Name == "%" {
				if percent, err := strconv.ParseFloat(texts[i+1], 64); err == nil {
					cells[i].Share = percent / 100
				}
			}
		}
		t.Rows = append(t.Rows, html.Row{Cells: cells, Total: isTotalRow(texts)})
	}
	return t
}

// nameColumn returns the index of the column that names a row: the first text after numbers, or the first text; -1 if
// there is none.
func nameColumn(fields []terminal.Field) int {
	isText := func(f terminal.Field) bool { return !f.Numeric }
	first := max(slices.IndexFunc(fields, func(f terminal.Field) bool { return f.Numeric }), 0)
	if i := slices.IndexFunc(fields[first:], isText); i >= 0 {
		return first + i
	}
	return slices.IndexFunc(fields, isText)
}

// isTotalRow reports whether a row of a table is the row of <Total>.
func isTotalRow(texts []string) bool {
	for _, t := range texts {
		if t == "<Total>" {
			return true
		}
	}
	return false
}

// ComparisonDocument returns a document with the first rows of a comparison, in which intervals are drawn.
func ComparisonDocument(result *compare.Result, rows []compare.Row) *html.Page {
	p := &html.Page{Title: "Comparison of " + strings.ToLower(result.Title()), Lead: result.Headline() + ".", Made: madeBy}
	for _, side := range []struct {
		name string
		compare.Side
	}{{"Base", result.Base}, {"Test", result.Test}} {
		p.Facts = append(p.Facts, html.Fact{Name: side.name, Value: fmt.Sprintf("%s (%s)", strings.Join(side.Selectors, " or "), Plural(len(side.Runs), "run"))})
	}
	for _, f := range []html.Fact{{Name: "Metric", Value: result.Metric}, {Name: "Mode", Value: result.Mode}, {Name: "Values", Value: valueKind(result)},
		{Name: "Runs", Value: designText(result)}, {Name: "Filter", Value: strings.Join(result.Where, " and ")}, {Name: "Hidden", Value: strings.Join(result.Hidden, "; ")}} {
		if f.Value != "" {
			p.Facts = append(p.Facts, f)
		}
	}
	p.Warnings = append(Unfair(result), result.Warnings...)
	s := html.Section{Title: result.Title(), Table: comparisonTable(result, rows), Notes: []string{fmt.Sprintf(
		"%s judged. In the drawing, the middle is no change, the line the interval at %g %%; changes below %g %% (shaded) count as none. Noise is how much halves of the base differ by chance.",
		Plural(result.Judged, "row"), 100*result.Level, 100*result.MinChange)}}
	p.Sections = []html.Section{s, environmentSection(result)}
	return p
}

// comparisonTable returns the rows of a comparison as a table.
func comparisonTable(result *compare.Result, rows []compare.Row) *html.Table {
	fields, texts := ComparisonCells(result, rows)
	t := &html.Table{Total: len(result.Rows), All: "--limit 0 writes more, --format csv all"}
	const ratio, interval, noise, q, verdict = 3, 4, 5, 6, 7 // as in ComparisonCells
	for i, f := range fields {
		c := html.Column{Name: f.Name, Numeric: f.Numeric, Long: i == verdict+1}
		switch i {
		case interval:
			c.Name, c.Equal = "Test to base, "+f.Name, result.MinChange
		case 0, 1, 2, noise, q:
			c.Minor = true
		}
		if i != ratio { // it is in the column of intervals
			t.Columns = append(t.Columns, c)
		}
	}
	for k, line := range texts {
		row := &rows[k]
		var cells []html.Cell
		for i, text := range line {
			c := html.Cell{Text: text}
			switch i {
			case ratio:
				continue
			case interval:
				c.Text = intervalText(row, text)
				if !math.IsNaN(row.Ratio) && !math.IsInf(row.Ratio, 0) {
					c.Interval = &html.Interval{Low: row.Low - 1, Change: row.Ratio - 1, High: row.High - 1}
				}
			case verdict:
				c.Verdict, c.Text = verdictOf(row)
			}
			if i < verdict {
				c.Text = strings.NewReplacer("-", "\u2212", "x", "×").Replace(c.Text)
			}
			cells = append(cells, c)
		}
		t.Rows = append(t.Rows, html.Row{Cells: cells, Total: k == 0})
	}
	return t
}

// intervalText returns the change of a row with its interval. text is the interval as tables show it.
func intervalText(row *compare.Row, text string) string {
	low, high, _ := strings.Cut(text, " .. ")
	switch change := percentChange(row.Ratio); {
	case text == "":
		return change
	case high == "":
		return strings.TrimSpace(change + " (from " + low + ")")
	case low == high:
		return change
	default:
		return fmt.Sprintf("%s (%s … %s)", change, low, high)
	}
}

// verdictOf returns the verdict on a row, and its text with a sign.
func verdictOf(row *compare.Row) (v html.Verdict, text string) {
	signs := map[string]struct {
		verdict html.Verdict
		sign    string
	}{compare.Slower: {html.Slower, "▲ "}, compare.Faster: {html.Faster, "▼ "}, compare.Appeared: {html.Appeared, "+ "}, compare.Vanished: {html.Vanished, "\u2212 "}}
	s := signs[row.Verdict]
	return s.verdict, s.sign + row.Verdict
}

// environmentSection returns a section with the other differences between the sides.
func environmentSection(result *compare.Result) html.Section {
	s := html.Section{Title: "What else differs"}
	if len(result.Environment) == 0 {
		s.Notes = []string{"Nothing that was recorded: the sides ran in the same environment."}
		return s
	}
	s.Table = &html.Table{Columns: []html.Column{{Name: "What"}, {Name: "Base", Long: true}, {Name: "Test", Long: true}, {Name: "Fair"}}}
	for _, d := range result.Environment {
		fair := "yes"
		if d.Unfair {
			fair = "no"
		}
		s.Table.Rows = append(s.Table.Rows, html.Row{Cells: html.Texts(d.What, environmentValues(d.Base), environmentValues(d.Test), fair)})
	}
	return s
}
