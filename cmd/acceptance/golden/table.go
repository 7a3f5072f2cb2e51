// Package golden reads the texts that `gprofng display text` prints, so that
// they can be compared with the store.
package golden

import (
	"bufio"
	"fmt"
	"os"
	"regexp"
	"strings"
)

// Column is a column of values in a table (gprofng-experiment 8.5).
type Column struct {
	Flavor  string // `Excl.`, `Incl.` or `Attr.`
	Metric  string // name in commands, e.g. `totalcpu`
	percent bool   // a column of percentages follows
}

// Row is one line of a table.
type Row struct {
	Values []string // one for each column, as printed
	Star   bool     // marked with `*`: the block has the callers and callees of this function
	Depth  int      // in a call tree: 0 for the root
	Name   string
}

// Table is a table that gprofng printed. A list of callers and callees consists of one table for
// each function.
type Table struct {
	Columns []Column
	Rows    []Row
}

// Column returns the index of the column with a flavor (such as `Excl.`) of a metric, or -1.
func (t Table) Column(flavor, metric string) int {
	for i, c := range t.Columns {
		if c.Flavor == flavor && c.Metric == metric {
			return i
		}
	}
	return -1
}

// titles maps the words in the header of a column to the name of the metric (gprofng-experiment
// 8.1).
var titles = map[string]string{
	"Total CPU": "totalcpu",
	"Sync Wait": "sync", "Sync Wait Count": "syncn",
	"Bytes Allocated": "heapallocbytes", "Allocations": "heapalloccnt",
	"Bytes Leaked": "heapleakbytes", "Leaks": "heapleakcnt",
	"Read Time": "ioreadtime", "Read Bytes": "ioreadbytes", "Read Count": "ioreadcnt",
	"Write Time": "iowritetime", "Write Bytes": "iowritebytes", "Write Count": "iowritecnt",
	"Other I/O Time": "ioothertime", "Other I/O Count": "ioothercnt",
	"I/O Error Time": "ioerrortime", "I/O Error Count": "ioerrorcnt",
}

var (
	columnStart = regexp.MustCompile(`(Excl|Incl|Attr)\.|Name$`)
	dataLine    = regexp.MustCompile(`^ *[0-9]`)
)

// ReadTables reads all tables of a file. It skips lines that are not in tables.
func ReadTables(path string) ([]Table, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var (
		tables []Table
		header []string
		open   bool // reading the rows of a table
	)
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	for n := 1; sc.Scan(); n++ {
		line := sc.Text()
		switch {
		case line == "":
			open = false
		case columnStart.MatchString(line) && strings.HasSuffix(line, "Name") && !dataLine.MatchString(line):
			header, open = []string{line}, true
			tables = append(tables, Table{})
		case open && !dataLine.MatchString(line):
			header = append(header, line)
		case open:
			t := &tables[len(tables)-1]
			if t.Columns == nil {
				if t.Columns, err = columns(header); err != nil {
					return nil, fmt.Errorf("%s:%d: %w", path, n, err)
				}
			}
			r, err := row(line, t.Columns)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", path, n, err)
			}
			t.Rows = append(t.Rows, r)
		}
	}
	for _, t := range tables {
		depths(t.Rows)
	}
	return tables, sc.Err()
}

// depths sets the depths of a call tree's rows, from where its branches are drawn: a level is two
// characters wide, or three below a branch that continues.
func depths(rows []Row) {
	var open []int
	for i := range rows {
		column := rows[i].Depth
		for len(open) > 0 && open[len(open)-1] >= column {
			open = open[:len(open)-1]
		}
		rows[i].Depth = len(open)
		open = append(open, column)
	}
}

// columns parses a table's header. The words of a column are below each other, on up to three
// lines.
func columns(header []string) ([]Column, error) {
	starts := columnStart.FindAllStringIndex(header[0], -1)
	var cs []Column
	for i, s := range starts[:len(starts)-1] {
		var words []string
		for _, line := range header {
			to := min(starts[i+1][0], len(line))
			words = append(words, strings.Fields(line[min(s[0], to):to])...)
		}
		c := Column{Flavor: words[0]}
		words = words[1:]
		if n := len(words) - 1; n >= 0 && words[n] == "%" {
			c.percent, words = true, words[:n]
		}
		if n := len(words) - 1; n >= 0 && words[n] == "sec." {
			words = words[:n]
		}
		title := strings.Join(words, " ")
		if c.Metric = titles[title]; c.Metric == "" {
			return nil, fmt.Errorf("unknown column %q", title)
		}
		cs = append(cs, c)
	}
	return cs, nil
}

func row(line string, cs []Column) (Row, error) {
	var r Row
	rest := line
	word := func() string {
		rest = strings.TrimLeft(rest, " ")
		w, after, _ := strings.Cut(rest, " ")
		rest = after
		return w
	}
	for _, c := range cs {
		r.Values = append(r.Values, word())
		if c.percent {
			word()
		}
	}
	name := strings.TrimLeft(rest, " ")
	if i := strings.Index(rest, "+-"); i >= 0 && strings.Trim(rest[:i], " |") == "" {
		r.Depth, name = len(line)-len(rest)+i, rest[i+2:]
	}
	r.Name, r.Star = strings.CutPrefix(strings.TrimRight(name, " "), "*")
	if r.Name == "" {
		return r, fmt.Errorf("no name in %q", line)
	}
	return r, nil
}
