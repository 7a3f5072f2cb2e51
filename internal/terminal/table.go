package terminal

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Field is a column of a table.
type Field struct {
	Name    string
	Numeric bool
	Short   bool // shorten long texts even if the output is not a terminal
	Whole   bool // texts stay complete, even if rows become wider than the terminal
	Path    bool // whether the column has names that are shortened last and keep their last part
	Drop    int  // columns with the highest number are left out first if rows are wider than the terminal; 0: never
}

// Table prints rows under headings, with numbers right-aligned. On a terminal it shortens texts until
// lines fit, and truncates lines that are still too wide, with a mark.
func (o *Output) Table(fields []Field, rows [][]string, markdown bool) error {
	if o.Tables != nil {
		return o.Tables(fields, rows)
	}
	width := o.Width()
	fields, cells, dropped := tableCells(fields, rows, width, markdown)
	if markdown {
		return o.markdownTable(fields, cells)
	}
	out := aligned(fields, cells, width)
	if o.Colors {
		out = styledHead(out)
	}
	if len(dropped) > 0 {
		out = fmt.Appendf(out, "left out to fit the width: %s\n", strings.Join(dropped, ", "))
	}
	_, err := o.Stdout.Write(out)
	return err
}

// noteIndent indents the notes of a table.
const noteIndent = "    "

// NotedTable prints a table with a note in full below each row, wrapped to the terminal's width.
func (o *Output) NotedTable(fields []Field, rows [][]string, notes []string) error {
	width := o.Width()
	fields, cells, _ := tableCells(fields, rows, width, false)
	lines := strings.SplitAfter(string(aligned(fields, cells, width)), "\n")
	var out strings.Builder
	for i, line := range lines {
		out.WriteString(line)
		if n := i - 2; n >= 0 && n < len(notes) { // the first two lines are the headings and the line below them
			for _, text := range wrap(Printable(notes[n]), width-len(noteIndent)) {
				out.WriteString(noteIndent + text + "\n")
			}
		}
	}
	_, err := io.WriteString(o.Stdout, out.String())
	return err
}

// wrap breaks a text into lines of at most width characters, at blanks if possible. With a width below
// minWrap, which no terminal has, the text stays one line.
func wrap(text string, width int) (lines []string) {
	if width < minWrap {
		return []string{text}
	}
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
		for runes := []rune(line); len(runes) > width; runes = []rune(line) { // a path, for example
			lines, line = append(lines, string(runes[:width])), string(runes[width:])
		}
	}
	return append(lines, line)
}

// minWrap is the smallest width to which texts are wrapped.
const minWrap = 16

// styledHead returns a table with its headings and the line below them in styles of their own.
func styledHead(text []byte) []byte {
	lines := bytes.SplitN(text, []byte("\n"), 3)
	if len(lines) < 3 {
		return text
	}
	return fmt.Appendf(nil, "%s\n%s\n%s", styled(true, string(lines[0]), Bold), styled(true, string(lines[1]), Faint), lines[2])
}

func (o *Output) markdownTable(fields []Field, cells [][]string) error {
	t := table.NewWriter()
	configs := make([]table.ColumnConfig, len(fields))
	for i, f := range fields {
		configs[i] = table.ColumnConfig{Number: i + 1}
		if f.Numeric {
			configs[i].Align, configs[i].AlignHeader = text.AlignRight, text.AlignRight
		}
	}
	t.SetColumnConfigs(configs)
	for i, texts := range cells {
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
	_, err := fmt.Fprintln(o.Stdout, t.RenderMarkdown())
	return err
}

// tableCells returns the headings and rows of the columns that fit into the width of the terminal (0 if
// there is none), escaped and shortened. It also returns the headings of the columns that do not fit.
func tableCells(fields []Field, rows [][]string, width int, markdown bool) (kept []Field, cells [][]string, dropped []string) {
	cells = make([][]string, 1, len(rows)+1)
	for _, f := range fields {
		cells[0] = append(cells[0], f.cell(f.Name, width > 0))
	}
	for _, row := range rows {
		line := make([]string, len(row))
		for k, c := range row {
			line[k] = fields[k].cell(c, width > 0)
		}
		cells = append(cells, line)
	}
	switch {
	case markdown:
		for _, row := range cells {
			for k := range row {
				row[k] = markdownCell(row[k])
			}
		}
	case width > 0:
		fields, cells, dropped = fitColumns(fields, cells, width)
		narrow(fields, cells, width)
	}
	return fields, cells, dropped
}

// cell escapes a text and shortens it to CellWidth, or to nameWidth if the field is Short. On a
// terminal, Short has no effect: there, narrow shortens all texts to the terminal's width.
func (f Field) cell(text string, onTerminal bool) string {
	width := CellWidth
	if f.Short && !onTerminal {
		width = nameWidth
	}
	if f.Path {
		return ShortenName(Printable(text), width)
	}
	return Shorten(Printable(text), width)
}
