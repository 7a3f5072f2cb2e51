package html

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"stackmill/internal/terminal"
	"stackmill/queries/flametree"
)

//go:embed document.html
var documentText string

// built has the scripts and the style sheets, which `npm run build` in queries/serve/web makes.
//
//go:embed built
var built embed.FS

// documentTemplate returns the parsed template of a document.
var documentTemplate = template.Must(template.New("document").Parse(documentText))

// document holds the data that the template shows.
type document struct {
	Page     *Page
	Policy   string // Content-Security-Policy
	Style    template.HTML
	Scripts  []template.HTML
	Sections []section
}

type section struct {
	ID, Title string
	Notes     []string
	Flame     template.JS // JSON
	Table     *table
	Sources   []source
	Text      string
}

type table struct {
	ID      string // id of the heading that names it
	Columns []Column
	Rows    []row
	Left    string // text about the contents that are left out
}

type row struct {
	Total bool
	Cells []cell
}

type cell struct {
	Cell
	Class   string
	Sort    string // the number to sort by
	Bar     int    // width in pixels
	Drawing template.HTML
}

type source struct {
	ID string
	Source
	Lines []sourceLine
}

type sourceLine struct {
	SourceLine
	Percent string
}

// Write writes a page as one document of at most MaxSize bytes.
func Write(w io.Writer, p *Page) error {
	p = p.printable()
	d := &document{Page: p}
	if err := d.addFiles(p); err != nil {
		return err
	}
	b := budget{left: MaxSize - len(d.Style) - reserved}
	for _, s := range d.Scripts {
		b.left -= len(s)
	}
	b.left -= textSize(append([]string{p.Title, p.Lead}, p.Warnings...)...)
	for i := range p.Sections {
		s := &p.Sections[i]
		d.Sections = append(d.Sections, section{ID: fmt.Sprintf("s%d", i+1), Title: shorten(s.Title), Notes: shortenAll(s.Notes)})
		b.left -= textSize(append([]string{s.Title}, s.Notes...)...)
	}
	for _, add := range []func(*budget, *section, *Section) error{addFlame, addSources, addText, addTable} { // the rest is for rows
		for i := range p.Sections {
			if err := add(&b, &d.Sections[i], &p.Sections[i]); err != nil {
				return err
			}
		}
	}
	var out bytes.Buffer
	if err := documentTemplate.Execute(&out, d); err != nil {
		return err
	}
	_, err := w.Write(out.Bytes())
	return err
}

// printable returns the page with its texts shortened and escaped. The texts of sections follow when they are added.
func (p *Page) printable() *Page {
	q := *p
	q.Title, q.Lead = shorten(p.Title), shorten(p.Lead)
	q.Facts = slices.Clone(p.Facts)
	for i, f := range q.Facts {
		q.Facts[i] = Fact{shorten(f.Name), shorten(f.Value)}
	}
	q.Warnings = shortenAll(p.Warnings)
	return &q
}

func shortenAll(texts []string) []string {
	texts = slices.Clone(texts)
	for i, t := range texts {
		texts[i] = shorten(t)
	}
	return texts
}

// addFiles sets the style sheet, the scripts that the page needs, and the policy that allows only these.
func (d *document) addFiles(p *Page) error {
	style, err := built.ReadFile("built/document.css")
	if err != nil {
		return err
	}
	d.Style = template.HTML("<style>" + string(style) + "</style>")
	d.Policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; script-src"
	scripts := []string{"tables.js"}
	if slices.ContainsFunc(p.Sections, func(s Section) bool { return s.Flame != nil }) {
		scripts = append(scripts, "flame.js")
	}
	for _, name := range scripts {
		text, err := built.ReadFile("built/" + name)
		if err != nil {
			return err
		}
		hash := sha256.Sum256(text)
		d.Policy += " 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'"
		d.Scripts = append(d.Scripts, template.HTML("<script>"+string(text)+"</script>"))
	}
	return nil
}

// budget is the number of bytes that are left for a document.
type budget struct{ left int }

// reserved is the size that Write keeps for the tags around the contents, which it does not count.
const reserved = 60_000

// flamePart and sourcePart are the parts of the budget that flame graphs and source text may take, so that something
// is left for tables.
const flamePart, sourcePart = 0.6, 0.5

// longest is the number of bytes to which texts in tables and names in flame graphs are shortened.
const longest = 600

// shorten shortens a text, and appends by how much. It escapes invisible characters, which might reorder the text that
// is shown.
func shorten(text string) string {
	parts := strings.Split(text, thin)
	for i, part := range parts {
		parts[i] = terminal.Printable(part)
	}
	text = strings.Join(parts, thin)
	if len(text) <= longest {
		return text
	}
	at := longest
	for at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	return fmt.Sprintf("%s… (%d characters more)", text[:at], utf8.RuneCountInString(text[at:]))
}

// textSize returns the size of texts in a document.
func textSize(texts ...string) (size int) {
	for _, t := range texts {
		size += len(template.HTMLEscapeString(t)) + len("<p class=note></p>")
	}
	return size
}

// flameNodes are the numbers of nodes that addFlame tries for a flame graph, until its data fit.
var flameNodes = []int{40_000, 30_000, 20_000, 10_000, 5000, 2000, 1000, 500, 200, 100, 50, 20, 10, 1}

func addFlame(b *budget, to *section, s *Section) error {
	if s.Flame == nil || len(s.Flame.Tree.Nodes) == 0 {
		return nil
	}
	t := *s.Flame.Tree
	t.Functions = slices.Clone(t.Functions)
	for i, f := range t.Functions {
		t.Functions[i] = flametree.Function{Name: shorten(f.Name), LoadObject: shorten(f.LoadObject), Module: shorten(f.Module), Kind: f.Kind}
	}
	for _, most := range flameNodes {
		var text bytes.Buffer
		c := t.Cut(most)
		json.HTMLEscape(&text, c.JSON(s.Flame.Head, true))
		if size := text.Len(); size > int(float64(b.left)*flamePart) && most > 1 {
			continue
		}
		b.left -= text.Len()
		to.Flame = template.JS(text.String())
		if left := len(t.Nodes) - shown(&c); left > 0 {
			to.Notes = append(slices.Clone(to.Notes), fmt.Sprintf("The graph shows the %d highest of %d nodes. The others are summed in frames <N more>, so that all sums hold.", shown(&c), len(t.Nodes)))
		}
		return nil
	}
	return nil
}

// shown returns the number of nodes of a tree that its cut shows.
func shown(c *flametree.Cut) (n int) {
	for _, s := range c.Shown {
		if s.More == 0 {
			n++
		}
	}
	return n
}

func addSources(b *budget, to *section, s *Section) error {
	room := int(float64(b.left) * sourcePart)
	for i := range s.Sources {
		of := source{ID: fmt.Sprintf("%s-%d", to.ID, i+1), Source: s.Sources[i]}
		of.Title, of.Notes = shorten(of.Title), shortenAll(of.Notes)
		size := textSize(append([]string{of.Title}, of.Notes...)...)
		for _, l := range s.Sources[i].Lines {
			l.Text = terminal.PrintableLine(l.Text[:min(len(l.Text), longest)])
			line := sourceLine{SourceLine: l}
			if l.Value != "" {
				line.Percent = Share(l.Share, 1)
			}
			size += textSize(l.Text, l.Value, l.Exact) + 150
			of.Lines = append(of.Lines, line)
		}
		if size > room {
			of.Lines, of.Notes = nil, append(slices.Clone(of.Notes), "The document has no room for the text.")
			size = textSize(append([]string{of.Title}, of.Notes...)...)
		}
		room -= size
		b.left -= size
		to.Sources = append(to.Sources, of)
	}
	return nil
}

func addText(b *budget, to *section, s *Section) error {
	to.Text = s.Text
	if most := b.left / 2; len(template.HTMLEscapeString(s.Text)) > most {
		to.Text = strings.ToValidUTF8(s.Text[:min(len(s.Text), most/6)], "") + "\n… (the document has no room for the rest)"
	}
	b.left -= len(template.HTMLEscapeString(to.Text))
	return nil
}

func addTable(b *budget, to *section, s *Section) error {
	if s.Table == nil {
		return nil
	}
	t := &table{ID: to.ID, Columns: s.Table.Columns}
	to.Table = t
	scales := make([]float64, len(t.Columns))
	for c := range t.Columns {
		scales[c] = intervalScale(s.Table.Rows, c)
	}
	for _, r := range s.Table.Rows {
		line, size := row{Total: r.Total}, len("<tr class=total></tr>")+10
		for c, of := range r.Cells {
			made := newCell(of, &t.Columns[c], scales[c])
			size += textSize(made.Text, made.Exact, made.Sort) + len(made.Drawing) + len(made.Class) + 90
			line.Cells = append(line.Cells, made)
		}
		if size > b.left {
			break
		}
		b.left -= size
		t.Rows = append(t.Rows, line)
	}
	if whole := max(s.Table.Total, len(s.Table.Rows)); whole > len(t.Rows) {
		t.Left = fmt.Sprintf("%d of %d rows are shown%s.", len(t.Rows), whole, map[bool]string{true: " (" + s.Table.All + ")"}[s.Table.All != ""])
	}
	return nil
}

// classes returns the CSS classes of a column's cells.
func (c *Column) classes() (classes []string) {
	for name, is := range map[string]bool{"num": c.Numeric, "name": c.Long, "minor": c.Minor, "interval": c.Equal > 0} {
		if is {
			classes = append(classes, name)
		}
	}
	slices.Sort(classes)
	return classes
}

// Class returns the class attribute of the column's heading.
func (c Column) Class() string {
	return strings.Join(slices.DeleteFunc(c.classes(), func(name string) bool { return name == "name" }), " ")
}

// barWidth is the width in pixels of the bar of a cell whose share is 1.
const barWidth = 48

func newCell(of Cell, in *Column, scale float64) cell {
	c := cell{Cell: of, Bar: int(math.Ceil(barWidth * min(max(of.Share, 0), 1)))}
	c.Text = shorten(of.Text)
	classes := in.classes()
	if of.Verdict != "" {
		classes = append(classes, string(of.Verdict))
	}
	if of.Interval != nil {
		c.Drawing, c.Sort = of.Interval.drawing(scale, in.Equal), fmt.Sprint(of.Interval.Change)
	}
	if in.Numeric && of.Exact != "" {
		c.Sort, _, _ = strings.Cut(of.Exact, thin)
	}
	c.Class = strings.Join(classes, " ")
	return c
}
