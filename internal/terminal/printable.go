package terminal

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable escapes what a terminal must not show. Names come from recordings, and invisible
// characters could control the terminal, hide text or change its order: control characters
// (including newlines and tabs), direction marks, characters without width, line separators, spaces
// other than ' ', and bytes that are not UTF-8. They become \xHH (characters below 0x80, and
// invalid bytes), \uHHHH and \UHHHHHHHH.
//
// So that the original can be recovered, a backslash before text that looks like one of these
// escapes is doubled; all others stay.
func Printable(text string) string { return escape(text, "") }

// PrintableLine is Printable for lines of source files, which keep their tabs.
func PrintableLine(text string) string { return escape(text, "\t") }

func escape(text, keep string) string {
	if isPlain(text) {
		return text
	}
	var b strings.Builder
	slashes := 0 // number of backslashes just written
	for i := 0; i < len(text); {
		c, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case c == '\\':
			b.WriteByte('\\')
			i++
			if slashes++; looksEscaped(text[i:]) {
				b.WriteString(strings.Repeat(`\`, slashes))
				slashes = 0
			}
			continue
		case c == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `%s\x%02x`, strings.Repeat(`\`, slashes), text[i])
		case IsVisible(c) || strings.ContainsRune(keep, c):
			b.WriteString(text[i : i+size])
		default:
			b.WriteString(strings.Repeat(`\`, slashes))
			writeEscaped(&b, c)
		}
		slashes = 0
		i += size
	}
	return b.String()
}

func writeEscaped(b *strings.Builder, c rune) {
	switch {
	case c < utf8.RuneSelf:
		fmt.Fprintf(b, `\x%02x`, c)
	case c < 1<<16:
		fmt.Fprintf(b, `\u%04x`, c)
	default:
		fmt.Fprintf(b, `\U%08x`, c)
	}
}

// looksEscaped reports whether text after a backslash reads as an escape.
func looksEscaped(text string) bool {
	for _, e := range []struct {
		letter byte
		digits int
	}{{'x', 2}, {'u', 4}, {'U', 8}} {
		if len(text) > e.digits && text[0] == e.letter && strings.Trim(text[1:1+e.digits], "0123456789abcdef") == "" {
			return true
		}
	}
	return false
}

// IsVisible reports whether a terminal shows a character unchanged and in its place.
func IsVisible(c rune) bool {
	return unicode.IsPrint(c) && !unicode.In(c, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// isPlain reports whether text is only visible ASCII without backslashes.
func isPlain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '\\' {
			return false
		}
	}
	return true
}

// Markdown escapes markup in a text for a line of Markdown.
func Markdown(text string) string { return markdownCell(Printable(text)) }

// markdownCell escapes markup in a printable text for a cell of a Markdown table, except the bar,
// which the table escapes.
func markdownCell(text string) string {
	var b strings.Builder
	runes := []rune(text)
	for i, c := range runes {
		switch {
		case c == '<':
			b.WriteString("&lt;")
		case c == '>' && i == 0: // a quotation
			b.WriteString("&gt;")
		case c == '&':
			b.WriteString("&amp;")
		case c == '_' && i > 0 && i+1 < len(runes) && isAlphanumeric(runes[i-1]) && isAlphanumeric(runes[i+1]): // emphasizes nothing
			b.WriteRune(c)
		case strings.ContainsRune("\\`*_[]~$", c):
			b.WriteByte('\\')
			b.WriteRune(c)
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

func isAlphanumeric(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }
