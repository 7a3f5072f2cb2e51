//go:build cgo

package text

import (
	"context"
	"strconv"
	"strings"

	"stackmill/internal/terminal"
	"stackmill/queries"
	"stackmill/queries/report"
)

// dataLayout prints a block for each aggregate, those with the largest values first: its members
// and the holes between them, in the order of memory.
func (r *Report) dataLayout(_ context.Context, q *report.Question, rows []queries.Record) error {
	return r.sections(q, rows, func(w *terminal.Page, group []queries.Record) (leftOut, error) {
		w.Printf("%12s %6s %7s %7s %5s  %s\n", "Value"+unitOf(group), "%", "Offset", "Size", "Line", "Member")
		aggregates := split(group, "data_object_id")
		shown := atMost(r.Limit, aggregates)
		for _, members := range shown {
			printAggregate(w, members[0])
			for _, rec := range members {
				printMember(w, rec)
			}
		}
		left := leftOut{what: "aggregates", rows: len(aggregates) - len(shown), total: float64(group[0].Number("total"))}
		for _, members := range aggregates[len(shown):] {
			left.value += float64(members[0].Number("aggregate_value"))
		}
		said := "as recorded"
		if group[0].Text("line_size_source") == "assumed" {
			said = "assumed: the recording does not say"
		}
		w.Printf("\nLines of %d bytes, %s\n", group[0].Number("line_size"), said)
		return left, nil
	})
}

func printAggregate(w *terminal.Page, rec queries.Record) {
	n := rec.Number("aggregate_value")
	name := rec.Text("descriptor")
	if own := rec.Text("aggregate_name"); own != "" {
		name += "  " + own // it distinguishes the aggregate from others of its type
	}
	w.Printf("\n%12s %6s %7s %7s %5s  %s  in %s\n", Value(n, rec.Text("unit")), Percent(n, rec.Number("total")), "",
		optional(rec, "aggregate_size"), "", name, rec.Text("scope"))
}

func printMember(w *terminal.Page, rec queries.Record) {
	n := rec.Number("value")
	name, line := rec.Text("member"), strconv.FormatInt(rec.Number("cache_line"), 10)
	offset, size := strconv.FormatInt(rec.Number("member_offset"), 10), optional(rec, "size")
	if bits := rec.Number("bit_size"); bits > 0 {
		offset += ":" + strconv.FormatInt(rec.Number("bit_offset"), 10)
		size = strconv.FormatInt(bits, 10) + " bit"
	}
	if own := rec.Text("name"); own != "" && !strings.HasSuffix(name, " "+own+"}") {
		name += "  " + own // an aggregate's descriptor does not name the member
	}
	switch rec.Text("kind") {
	case "hole":
		name = "(hole)"
	case "aggregate":
		name, line = "(member not known)", ""
	}
	w.Printf("%12s %6s %7s %7s %5s    %s\n", Value(n, rec.Text("unit")), Percent(n, rec.Number("total")),
		offset, size, line, name)
}

// optional formats a number that may be missing.
func optional(rec queries.Record, column string) string {
	if rec[column] == nil {
		return ""
	}
	return strconv.FormatInt(rec.Number(column), 10)
}
