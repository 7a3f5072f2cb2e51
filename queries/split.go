package queries

import (
	"strings"

	"stackmill/internal/lazyregexp"
)

// split splits SQL at its semicolons. It removes white space and comments before each statement. If
// it makes a mistake, that does no harm: the statements are admitted and run as they were split.
func split(text string) (statements []string) {
	start := 0
	for at := 0; at <= len(text); {
		if at < len(text) && text[at] != ';' {
			at += token(text[at:])
			continue
		}
		if s := strings.TrimSpace(bare(text[start:at])); s != "" {
			statements = append(statements, s)
		}
		at++
		start = at
	}
	return statements
}

// bare returns a statement without leading comments and white space.
func bare(s string) string {
	for {
		s = strings.TrimSpace(s)
		if !strings.HasPrefix(s, "--") && !strings.HasPrefix(s, "/*") {
			return s
		}
		s = s[token(s):]
	}
}

// lexeme matches a one-line comment, a text, a quoted name, a word or, failing these, one
// character. For a doubled quote inside of a text, it matches two texts.
var lexeme = lazyregexp.New(`(?s)^(?:--[^\n]*\n?|[eE]'(?:\\.|[^\\'])*'?|'[^']*'?|"[^"]*"?|[\w\x{80}-\x{10ffff}][\w$\x{80}-\x{10ffff}]*|.)`)

var dollarTag = lazyregexp.New(`^\$([A-Za-z_\x80-\xff][A-Za-z0-9_\x80-\xff]*)?\$`)

// token returns the length of the comment, quoted text or word at the start of s; if there is none,
// of one character. s must not be empty.
func token(s string) int {
	tag := dollarTag().FindString(s)
	switch end := strings.Index(s[len(tag):], tag); {
	case strings.HasPrefix(s, "/*"):
		return comment(s)
	case tag == "":
		return len(lexeme().FindString(s))
	case end < 0:
		return len(s)
	default:
		return end + 2*len(tag)
	}
}

// comment returns the length of a comment, which may contain other comments.
func comment(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch {
		case strings.HasPrefix(s[i:], "/*"):
			depth++
			i++
		case strings.HasPrefix(s[i:], "*/"):
			i++
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(s)
}
