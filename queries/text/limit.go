//go:build cgo

package text

import (
	"strconv"

	"stackmill/internal/terminal"
	"stackmill/queries"
	"stackmill/queries/report"
)

// DefaultLimit is the default number of rows of tables, for each experiment and metric.
const DefaultLimit = 40

// DocumentLimit is the default number of rows of tables in documents.
const DocumentLimit = 400

// IsLimited reports whether a report's table has a limit by default. Listings of code have none.
func IsLimited(r *report.Report, format string) bool {
	return (format == "table" || format == "markdown" || format == "html") && !(Draws(r, format) && r.ShowsSources()) && r.Name != "conservation"
}

// atMost returns the first items of a list; all if the limit is 0.
func atMost[T any](limit int, list []T) []T {
	if limit > 0 {
		list = list[:min(limit, len(list))]
	}
	return list
}

// leftOut describes the items that a limit leaves out of a list.
type leftOut struct {
	what         string // the things in the list, in the plural
	rows         int
	value, total float64 // value of the rows, and of the whole list; total is 0 if values do not add up
	lists        int     // number of lists from which rows are left out; 0 means 1
}

// text describes the items that are left out; it returns "" if there are none.
func (l leftOut) text() string {
	if l.rows == 0 {
		return ""
	}
	text := "... " + thousands(l.rows) + " more " + l.what
	if l.rows == 1 {
		text = "... 1 more of the " + l.what
	}
	if l.lists > 1 {
		text += " in " + Plural(l.lists, "list")
	}
	if l.total > 0 {
		share := " with "
		if l.lists > 1 {
			share = " with at most "
		}
		text += share + Percent(int64(l.value), int64(l.total)) + " % of the value"
	}
	return text + " (--limit 0 shows all)"
}

func (l leftOut) print(w *terminal.Page) {
	if text := l.text(); text != "" {
		w.Printf("\n")
		w.Linef(terminal.Faint, "%s", text)
	}
}

// sayLeftOut prints a line below a table about the rows that a limit left out. If the table has no
// caption, it prints the remarks about its sum as messages, because markup in names is escaped only in
// cells.
func (r *Report) sayLeftOut(q *report.Question, l leftOut) error {
	w := r.Page()
	l.print(w)
	if r.Format == "markdown" {
		for _, remark := range q.Remarks {
			r.Warnf("%s", remark)
		}
	}
	return w.Flush()
}

// leftOutRows describes the rows that the limit left out of a table. Columns of the remaining rows have
// the number of all rows.
func (r *Report) leftOutRows(rows []queries.Record) (all leftOut) {
	all.what = "rows"
	if r.Limit == 0 {
		return all
	}
	for _, group := range r.groups(rows) {
		first := group[0]
		n := int(first.Number(report.AllRows)) - len(group)
		if n <= 0 {
			continue
		}
		all.rows, all.lists = all.rows+n, all.lists+1
		whole, ok := first[report.AllValue].(float64)
		if total := r.totalOf(first); ok && total > 0 { // with several lists, take the largest share
			if value := whole - r.valueOf(group); all.total == 0 || value/total > all.value/all.total {
				all.value, all.total = value, total
			}
		}
	}
	return all
}

// valueOf returns the sum of the rows' values.
func (r *Report) valueOf(rows []queries.Record) (sum float64) {
	primary := r.Primary()
	for _, rec := range rows {
		if !(r.ListsTotal() && isTotal(rec)) {
			sum += float64(rec.Number(primary))
		}
	}
	return sum
}

// totalOf returns the value of the whole list to which a row belongs: the value of <Total>, or the sum
// of the rows. It is 0 if rows are sorted by the sum of several columns, or contain each other, as data
// objects do.
func (r *Report) totalOf(rec queries.Record) float64 {
	if r.Columns[0].Name == "read_ns" || r.OfData {
		return 0
	}
	if _, ok := rec["total"]; ok {
		return float64(rec.Number("total"))
	}
	whole, _ := rec[report.AllValue].(float64)
	return whole
}

// isTotal reports whether a row is the row of <Total>.
func isTotal(rec queries.Record) bool {
	return rec.Text("function") == "<Total>" && rec.Text("kind") == "artificial"
}

// limited returns the rows up to the limit, and describes the rows that it leaves out.
func (r *Report) limited(rows []queries.Record, what string) ([]queries.Record, leftOut) {
	shown := atMost(r.Limit, rows)
	l := leftOut{what: what, rows: len(rows) - len(shown)}
	if r.Primary() != "" && len(rows) > 0 {
		l.value, l.total = r.valueOf(rows[len(shown):]), r.totalOf(rows[0])
	}
	return shown, l
}

// thousands formats a number with commas between groups of three digits.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
