package main

import (
	"slices"
	"unicode/utf8"
)

const (
	columnGap   = 2  // blanks after each column, which the line below the headings shows
	leastColumn = 10 // characters: a narrower column says nothing
)

const (
	// nameWidth is how much of a name a table shows before other columns: otherwise one
	// C++ template would push them out of sight.
	nameWidth = 80
	// cellWidth is how much any cell shows: all rows of a table are as wide as the
	// widest, so that one endless name would make gigabytes of blanks.
	cellWidth = 4096
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

// shorten takes out the middle of a longer text: both ends matter most.
func shorten(text string, width int) string {
	if len(text) <= width {
		return text
	}
	if runes := []rune(text); len(runes) > width {
		return string(runes[:width*5/8-1]) + "…" + string(runes[len(runes)-width*3/8:])
	}
	return text
}
