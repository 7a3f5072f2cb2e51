package terminal

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// wantedName is the width, in characters, that fitColumns reserves for a name if it is that long.
const wantedName = 28

// fitColumns leaves out columns of a table until its rows fit into the width, columns with the highest
// Field.Drop first. It returns the columns that are left, and the headings of the others. The first
// row has the headings.
func fitColumns(fields []Field, rows [][]string, width int) (kept []Field, cells [][]string, dropped []string) {
	kept, cells = slices.Clone(fields), rows
	for {
		needed, last := 0, -1
		for k, f := range kept {
			w := 0
			for _, row := range cells {
				w = max(w, utf8.RuneCountInString(row[k]))
			}
			if f.Path {
				w = min(w, wantedName)
			}
			needed += w + columnGap
			if f.Drop > 0 && (last < 0 || f.Drop >= kept[last].Drop) {
				last = k
			}
		}
		if needed <= width || last < 0 {
			return kept, cells, dropped
		}
		dropped = append(dropped, kept[last].Name)
		kept = slices.Delete(kept, last, last+1)
		narrowed := make([][]string, len(cells))
		for i, row := range cells {
			narrowed[i] = slices.Delete(slices.Clone(row), last, last+1)
		}
		cells = narrowed
	}
}

// ShortenName shortens a name to a width and keeps its last part, which distinguishes it. It first cuts
// the parameters of a function, then the namespaces, folders or callers before the last part. Only if
// this is not enough does it cut the last part in its middle.
func ShortenName(name string, width int) string {
	if utf8.RuneCountInString(name) <= width {
		return name
	}
	start, end := lastPart(name)
	if rest := name[end:]; len(rest) > len("(…)") && rest[0] == '(' {
		short := name[:end] + "(…)"
		short += rest[closingBracket(rest)+1:] // const, or the mark of a clone
		if utf8.RuneCountInString(short) <= width {
			return short
		}
		name = short
	}
	before, last := []rune(name[:start]), []rune(name[start:])
	switch left := width - 1 - len(last); {
	case start == 0 || left < 0 && len(last) > width:
		return Shorten(string(last), width)
	case left < 0:
		return string(last)
	default:
		return "…" + string(before[len(before)-min(left, len(before)):]) + string(last)
	}
}

// closingBracket returns the index of the bracket that closes the one at the beginning of a text, or
// the last index if it is not closed.
func closingBracket(text string) int {
	depth := 0
	for i, c := range text {
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(text) - 1
}

// lastPart returns where the last part of a name begins and ends: after the last separator ("::", "/"
// or ";") outside of brackets, and before the parameters.
func lastPart(name string) (start, end int) {
	depth := 0
	end = len(name)
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case strings.HasPrefix(name[i:], "operator"):
			for i += len("operator"); i < len(name) && strings.IndexByte("<>=!-+()[]", name[i]) >= 0 && (name[i] != '(' || name[i-1] == 'r'); i++ {
			}
			i--
		case strings.HasPrefix(name[i:], "(anonymous namespace)"):
			i += len("(anonymous namespace)") - 1
		case c == '(' && depth == 0:
			closing := i + closingBracket(name[i:])
			if !strings.HasPrefix(name[closing+1:], "::") {
				return start, i
			}
			i = closing // the brackets belong to an enclosing function, as for a lambda
		case c == '<' || c == '(' || c == '[' || c == '{':
			depth++
		case (c == '>' && name[max(i-1, 0)] != '-' || c == ')' || c == ']' || c == '}') && depth > 0:
			depth--
		case depth == 0 && (c == '/' || c == ';') && i+1 < len(name):
			start = i + 1
		case depth == 0 && strings.HasPrefix(name[i:], "::"):
			start = i + 2
		}
	}
	return start, end
}
