package main

import (
	"context"
	"strconv"
	"strings"
)

// dataLayout prints a block for each aggregate, those of largest value first: its
// members as they lie in memory, and the holes between them.
func (r *reporter) dataLayout(_ context.Context, s *selection, rows []record) error {
	w := r.page()
	for i, group := range groups(rows) {
		if i > 0 {
			w.printf("\n")
		}
		r.groupTitle(w, s, group)
		w.printf("%12s %6s %7s %7s %5s  %s\n", "Value"+unitOf(group), "%", "Offset", "Size", "Line", "Member")
		left := r.limit
		for k, rec := range group {
			if k == 0 || rec["data_object_id"] != group[k-1]["data_object_id"] {
				if r.limit > 0 && left == 0 {
					break
				}
				left--
				printAggregate(w, rec)
			}
			printMember(w, rec)
		}
		printLineSize(w, group[0])
	}
	return w.flush()
}

// printLineSize says how long the lines are that members are in.
func printLineSize(w *page, rec record) {
	said := "as recorded"
	if rec.text("line_size_source") == "assumed" {
		said = "assumed: the recording does not tell"
	}
	w.printf("\nLines of %d bytes, %s\n", rec.number("line_size"), said)
}

func printAggregate(w *page, rec record) {
	n := rec.number("aggregate_value")
	name := rec.text("descriptor")
	if own := rec.text("aggregate_name"); own != "" {
		name += "  " + own // what tells it from others of its type
	}
	w.printf("\n%12s %6s %7s %7s %5s  %s  in %s\n", formatValue(n, rec.text("unit")), percent(n, rec.number("total")), "",
		optional(rec, "aggregate_size"), "", name, rec.text("scope"))
}

func printMember(w *page, rec record) {
	n := rec.number("value")
	name, line := rec.text("member"), strconv.FormatInt(rec.number("cache_line"), 10)
	offset, size := strconv.FormatInt(rec.number("offset"), 10), optional(rec, "size")
	if bits := rec.number("bit_size"); bits > 0 {
		offset += ":" + strconv.FormatInt(rec.number("bit_offset"), 10)
		size = strconv.FormatInt(bits, 10) + " bit"
	}
	if own := rec.text("name"); own != "" && !strings.HasSuffix(name, " "+own+"}") {
		name += "  " + own // an aggregate's descriptor does not name the member
	}
	switch rec.text("kind") {
	case "hole":
		name = "(hole)"
	case "aggregate":
		name, line = "(member not known)", ""
	}
	w.printf("%12s %6s %7s %7s %5s    %s\n", formatValue(n, rec.text("unit")), percent(n, rec.number("total")),
		offset, size, line, name)
}

// optional is a number that may be missing.
func optional(rec record, column string) string {
	if rec[column] == nil {
		return ""
	}
	return strconv.FormatInt(rec.number(column), 10)
}
