package main

import (
	"slices"
	"unicode/utf8"
)

const (
	columnGap   = 2  // blanks after each column, which the line below the headings shows
	leastColumn = 10 // characters: a narrower column says nothing
)

// narrow shortens the longest texts of a table until its rows fit into
// the width; numbers stay, and so do short texts.
func narrow(fields []field, rows [][]string, width int) {
	widths := make([]int, len(fields))
	for _, row := range rows {
		for k, c := range row {
			widths[k] = max(widths[k], utf8.RuneCountInString(c))
		}
	}
	limit := slices.Max(append(widths, leastColumn))
	for ; limit > leastColumn && narrowed(fields, widths, limit) > width; limit-- {
	}
	for _, row := range rows {
		for k := range row {
			if !fields[k].numeric && !fields[k].whole {
				row[k] = shorten(row[k], limit)
			}
		}
	}
}

// narrowed is how wide rows are whose texts have at most so many characters.
func narrowed(fields []field, widths []int, limit int) int {
	sum := columnGap * len(fields)
	for k, w := range widths {
		if !fields[k].numeric && !fields[k].whole {
			w = min(w, limit)
		}
		sum += w
	}
	return sum
}
