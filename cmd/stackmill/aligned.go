package main

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/text"
)

// unfinished ends a line that was cut.
const unfinished = " ~"

// aligned returns rows, the first of which are headings, in columns, numbers to the right.
// Lines are cut that are wider than a terminal of this width; 0 for none.
func aligned(fields []field, rows [][]string, width int) []byte {
	widths, total := make([]int, len(fields)), 0
	for _, row := range rows {
		for k, c := range row {
			widths[k] = max(widths[k], widthOf(c))
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
			fill := blanks[:widths[k]-widthOf(c)]
			if fields[k].numeric {
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

// appendLine appends a line that ends with the terminal, if it must, and has no blanks at
// its end.
func appendLine(out, line []byte, width int) []byte {
	if width > 0 && widthOf(string(line)) > width {
		line = append([]byte(text.Trim(string(line), max(width-len(unfinished), 0))), unfinished...)
	}
	return append(append(out, bytes.TrimRight(line, " ")...), '\n')
}

// widthOf is how wide a text is on a terminal.
func widthOf(s string) int {
	if strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r >= utf8.RuneSelf }) < 0 {
		return len(s)
	}
	return text.StringWidthWithoutEscSequences(s)
}
