// Package html writes answers as self-contained HTML documents: tables, flame graphs and source with heat. A document
// loads nothing from the network or from other files, so it can be mailed, archived or attached to a ticket.
//
// Start reading with Page and Write. The scripts and the style sheet are built from queries/serve/web/src/document.
package html

import "stackmill/queries/flametree"

// MaxSize limits the size of a document in bytes. Write leaves out contents that would exceed it, and the document
// says so.
const MaxSize = 2_000_000

// Page is a document.
type Page struct {
	Title    string
	Lead     string // the answer in one sentence, below the title
	Facts    []Fact // properties of the subject: program, host, metric
	Warnings []string
	Sections []Section
	Made     string // the program and version that wrote the document
}

// Fact is a property of the document's subject.
type Fact struct{ Name, Value string }

// Section is a titled part of a document. It shows the contents that are set, in the order of the fields.
type Section struct {
	Title   string
	Notes   []string
	Flame   *FlameGraph
	Table   *Table
	Sources []Source
	Text    string // preformatted
}

// FlameGraph is a flame graph that can be zoomed and searched. It shows as many nodes as fit.
type FlameGraph struct {
	Tree *flametree.Tree
	Head flametree.Head
}

// Table is a table. If a document has no room for all rows, it shows the first ones.
type Table struct {
	Columns []Column
	Rows    []Row
	Total   int    // number of rows of the whole table, if Rows is only a part; 0: Rows is the whole
	All     string // how to get all rows; empty if that is not possible
}

// Column is a column of a table.
type Column struct {
	Name    string
	Numeric bool
	Long    bool // whether it has names or texts, which may be long
	Minor   bool // narrow screens do not show it
	// Equal is the relative change that counts as none, in a column of intervals.
	Equal float64
}

// Row is a row of a table.
type Row struct {
	Cells []Cell
	Total bool // whether it is the row of the whole
}

// Cell is a cell of a table. Without Text, a cell with an interval has only the drawing.
type Cell struct {
	Text     string
	Exact    string    // the exact value, shown on request
	Share    float64   // the part of the whole, from 0 to 1, drawn as a bar
	Interval *Interval // drawn on the scale of its column
	Verdict  Verdict
	Function bool // whether the text is the name of a function in the flame graph
}

// Interval is a relative change with its confidence interval: 0 is no change, 0.5 is half as much again.
type Interval struct{ Low, Change, High float64 }

// Verdict is a verdict that the color of a cell shows. The text of the cell names it, too.
type Verdict string

// The verdicts that have colors.
const (
	Slower   Verdict = "slower"
	Faster   Verdict = "faster"
	Appeared Verdict = "appeared"
	Vanished Verdict = "vanished"
)

// Source is source text with values by line.
type Source struct {
	Title string
	Notes []string
	Value string // heading of the column of values
	Lines []SourceLine
}

// SourceLine is a line of source text, or a gap of left-out lines (Number is 0).
type SourceLine struct {
	Number int64
	Text   string
	Value  string  // empty if the line has no value
	Exact  string  // the exact value
	Share  float64 // the part of the value of all lines, from 0 to 1
	Heat   int     // 0 to 5
}

// Texts returns cells with texts.
func Texts(texts ...string) []Cell {
	cells := make([]Cell, len(texts))
	for i, t := range texts {
		cells[i].Text = t
	}
	return cells
}
