package main

import (
	"fmt"
	"strings"

	"stackmill/queries/result"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"
)

// tableRows is how many rows the table format shows: it must hold them all to know how
// wide the columns are.
const tableRows = 10_000

// field is a column of a table.
type field struct {
	name    string
	numeric bool
	short   bool // whether the middle of long texts is taken out
	whole   bool // whether it is not, even if that makes rows wider than the terminal
}

// tablePrinter prints aligned columns, or a Markdown table.
type tablePrinter struct {
	app      *app
	markdown bool
	lines    bool // cells of several lines take as many rows: plans
	fields   []result.Field
	rows     [][]string
	more     int
}

func (p *tablePrinter) Header(fields []result.Field) error {
	p.fields = fields
	return nil
}

func (p *tablePrinter) Row(values []any) error {
	if len(p.rows) == tableRows {
		p.more++
		return nil
	}
	row := make([]string, len(values))
	for i, v := range values {
		if row[i] = result.Cell(v, p.fields[i].Kind); v == nil {
			row[i] = "NULL"
		}
		if !p.lines {
			row[i] = ends(row[i])
		}
	}
	if p.lines {
		p.rows = append(p.rows, linesOf(row)...)
	} else {
		p.rows = append(p.rows, row)
	}
	return nil
}

func (p *tablePrinter) Close() error {
	fields := make([]field, len(p.fields))
	for i, f := range p.fields {
		fields[i] = field{name: f.Name, numeric: f.Numeric}
	}
	err := p.app.printTable(fields, p.rows, p.markdown)
	if err == nil && p.more > 0 {
		say(p.app.stderr, "stackmill: %d more rows are not shown (use --format csv, or LIMIT)\n", p.more)
	}
	return err
}

// ends returns the ends of a text, which is all that a table may show.
func ends(text string) string {
	const width = 4 * cellWidth // bytes of as many characters
	if len(text) <= 2*width {
		return text
	}
	return text[:width] + text[len(text)-width:]
}

// linesOf cuts a row into one for each line of its last cell.
func linesOf(row []string) (rows [][]string) {
	last := len(row) - 1
	for i, line := range strings.Split(row[last], "\n") {
		r := make([]string, len(row))
		if i == 0 {
			copy(r, row)
		}
		r[last] = line
		rows = append(rows, r)
	}
	return rows
}

// printTable prints rows under headings, numbers to the right. On a terminal texts are
// shortened until lines fit; what then is too wide is cut, with a mark.
func (a *app) printTable(fields []field, rows [][]string, asMarkdown bool) error {
	width := a.width()
	shown := shownTexts(fields, rows, width, asMarkdown)
	if asMarkdown {
		return a.printMarkdown(fields, shown)
	}
	_, err := a.stdout.Write(aligned(fields, shown, width))
	return err
}

func (a *app) printMarkdown(fields []field, shown [][]string) error {
	t := table.NewWriter()
	configs := make([]table.ColumnConfig, len(fields))
	for i, f := range fields {
		configs[i] = table.ColumnConfig{Number: i + 1}
		if f.numeric {
			configs[i].Align, configs[i].AlignHeader = text.AlignRight, text.AlignRight
		}
	}
	t.SetColumnConfigs(configs)
	for i, texts := range shown {
		row := make(table.Row, len(texts))
		for k, c := range texts {
			row[k] = c
		}
		if i == 0 {
			t.AppendHeader(row)
		} else {
			t.AppendRow(row)
		}
	}
	_, err := fmt.Fprintln(a.stdout, t.RenderMarkdown())
	return err
}

// shownTexts are the headings and the rows as a table holds them, for a terminal of this
// width; 0 for none.
func shownTexts(fields []field, rows [][]string, width int, asMarkdown bool) [][]string {
	all := make([][]string, 1, len(rows)+1)
	for _, f := range fields {
		all[0] = append(all[0], f.name)
	}
	all = append(all, rows...)
	shown := make([][]string, len(all))
	for i, row := range all {
		shown[i] = make([]string, len(row))
		for k, c := range row {
			shown[i][k] = fields[k].shown(c, width > 0)
		}
	}
	if width > 0 && !asMarkdown {
		narrow(fields, shown, width)
	}
	if asMarkdown {
		for _, row := range shown {
			for k := range row {
				row[k] = markdown(row[k])
			}
		}
	}
	return shown
}

// shown returns a text of the column for a table. A terminal's width says more of how
// long it may be than any rule.
func (f field) shown(text string, onTerminal bool) string {
	width := cellWidth
	if f.short && !onTerminal {
		width = nameWidth
	}
	return shorten(printable(text), width)
}

// width returns the terminal's width, 0 if the output is not a terminal.
func (a *app) width() int {
	if a.columns > 0 {
		return a.columns
	}
	f, ok := a.stdout.(interface{ Fd() uintptr })
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}
