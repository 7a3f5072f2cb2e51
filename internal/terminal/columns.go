package terminal

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/text"
)

const (
	columnGap = 2  // blanks after each column; the line below the headings covers them
	minColumn = 10 // characters; a narrower column is useless

	// nameWidth limits names in the first columns: one C++ template would push the other columns out
	// of sight.
	nameWidth = 80
	// CellWidth limits every cell: a table's rows are all as wide as the widest, so that one endless
	// name would make gigabytes of blanks.
	CellWidth = 4096
)

// narrow shortens the longest texts of a table until its rows fit into the width. Numbers and
// short texts stay.
func narrow(fields []Field, rows [][]string, width int) {
	widths := make([]int, len(fields))
	for _, row := range rows {
		for k, c := range row {
			widths[k] = max(widths[k], utf8.RuneCountInString(c))
		}
	}
	longest := slices.Max(append(widths, minColumn))
	limit, names := longest, longest // for texts, and for texts in columns that are shortened last
	for ; limit > minColumn && narrowedWidth(fields, widths, limit, names) > width; limit-- {
	}
	for ; names > minColumn && narrowedWidth(fields, widths, limit, names) > width; names-- {
	}
	for _, row := range rows {
		for k := range row {
			switch {
			case fields[k].Numeric || fields[k].Whole:
			case fields[k].Path:
				row[k] = ShortenName(row[k], names)
			default:
				row[k] = Shorten(row[k], limit)
			}
		}
	}
}

// narrowedWidth returns the width of rows whose texts have at most limit characters. In columns that
// are shortened last, texts have at most names characters.
func narrowedWidth(fields []Field, widths []int, limit, names int) int {
	sum := columnGap * len(fields)
	for k, w := range widths {
		switch {
		case fields[k].Numeric || fields[k].Whole:
		case fields[k].Path:
			w = min(w, names)
		default:
			w = min(w, limit)
		}
		sum += w
	}
	return sum
}

// Shorten replaces the middle of a text that is too long, because both ends matter most.
func Shorten(text string, width int) string {
	if len(text) <= width {
		return text
	}
	if runes := []rune(text); len(runes) > width {
		return string(runes[:width*5/8-1]) + "…" + string(runes[len(runes)-width*3/8:])
	}
	return text
}

// cutMark ends a truncated line.
const cutMark = " ~"

// aligned returns the headings (the first row) and the rows in columns, with numbers right-aligned.
// It truncates lines that are wider than width; 0 is no limit.
func aligned(fields []Field, rows [][]string, width int) []byte {
	widths, total := make([]int, len(fields)), 0
	for _, row := range rows {
		for k, c := range row {
			widths[k] = max(widths[k], textWidth(c))
		}
	}
	for _, w := range widths {
		total += w + columnGap
	}
	blanks, dashes := bytes.Repeat([]byte(" "), total), bytes.Repeat([]byte("-"), total)
	out := make([]byte, 0, (len(rows)+1)*(total+1))
	line := make([]byte, 0, total+1)
	for i, row := range rows {
		line = line[:0]
		for k, c := range row {
			fill := blanks[:widths[k]-textWidth(c)]
			if fields[k].Numeric {
				line = append(append(line, fill...), c...)
			} else {
				line = append(append(line, c...), fill...)
			}
			line = append(line, blanks[:columnGap]...)
		}
		out = appendLine(out, line, width)
		if i == 0 {
			out = appendLine(out, dashes, width)
		}
	}
	return out
}

// appendLine appends a line, truncated to the width, without trailing blanks.
func appendLine(out, line []byte, width int) []byte {
	if width > 0 && textWidth(string(line)) > width {
		line = append([]byte(text.Trim(string(line), max(width-len(cutMark), 0))), cutMark...)
	}
	return append(append(out, bytes.TrimRight(line, " ")...), '\n')
}

// textWidth returns how many columns of a terminal a text takes.
func textWidth(s string) int {
	if strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r >= utf8.RuneSelf }) < 0 {
		return len(s)
	}
	return text.StringWidthWithoutEscSequences(s)
}
