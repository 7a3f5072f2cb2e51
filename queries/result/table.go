package result

import (
	"strings"

	"stackmill/internal/terminal"
)

// Formats are the formats of New.
var Formats = []string{"table", "csv", "json", "ndjson", "markdown"}

// New returns a printer for one of Formats.
func New(out *terminal.Output, format string) Printer {
	switch format {
	case "csv":
		if terminal.Is(out.Stdout) { // files have the texts as they are
			return CSV(out.Stdout, terminal.Printable)
		}
		return CSV(out.Stdout, nil)
	case "json":
		return JSON(out.Stdout)
	case "ndjson":
		return NDJSON(out.Stdout)
	}
	return &tablePrinter{out: out, markdown: format == "markdown"}
}

// QueryPlan returns a printer that shows each line in the last column as a row of its own.
func QueryPlan(out *terminal.Output) Printer { return &tablePrinter{out: out, lines: true} }

// tableRows limits the rows of a table: they are all kept in memory to compute the widths of
// columns.
const tableRows = 10_000

// tablePrinter prints aligned columns, or a Markdown table.
type tablePrinter struct {
	out      *terminal.Output
	markdown bool
	lines    bool // a cell of several lines takes as many rows
	fields   []Field
	rows     [][]string
	more     int
}

func (p *tablePrinter) Header(fields []Field) error {
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
		if row[i] = Cell(v, p.fields[i].Kind); v == nil {
			row[i] = "NULL"
		}
		if !p.lines {
			row[i] = ends(row[i])
		}
	}
	if p.lines {
		p.rows = append(p.rows, splitLines(row)...)
	} else {
		p.rows = append(p.rows, row)
	}
	return nil
}

func (p *tablePrinter) Close() error {
	fields := make([]terminal.Field, len(p.fields))
	for i, f := range p.fields {
		fields[i] = terminal.Field{Name: f.Name, Numeric: f.Numeric}
	}
	err := p.out.Table(fields, p.rows, p.markdown)
	if err == nil && p.more > 0 {
		p.out.Warnf("%d more rows are not shown (use --format csv, or LIMIT)", p.more)
	}
	return err
}

// ends returns the start and end of a long text: a table shows only these, so it keeps only these.
func ends(text string) string {
	const width = 4 * terminal.CellWidth // bytes of as many characters
	if len(text) <= 2*width {
		return text
	}
	return text[:width] + text[len(text)-width:]
}

// splitLines splits a row into one for each line in its last cell.
func splitLines(row []string) (rows [][]string) {
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
