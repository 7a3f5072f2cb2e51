package queries

import (
	"strings"

	"stackmill/internal/lazyregexp"
)

// split cuts SQL at its semicolons, and removes space and comments before each statement. It need
// not be right for every text: the statements are judged and run as they are cut.
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

// bare returns a statement without the comments and the space before it.
func bare(s string) string {
	for {
		s = strings.TrimSpace(s)
		if !strings.HasPrefix(s, "--") && !strings.HasPrefix(s, "/*") {
			return s
		}
		s = s[token(s):]
	}
}

var dollarTag = lazyregexp.New(`^\$([A-Za-z_\x80-\xff][A-Za-z0-9_\x80-\xff]*)?\$`)

// token returns the length of the comment, quoted text or word at the start of s, which is not
// empty; else 1.
func token(s string) int {
	switch {
	case strings.HasPrefix(s, "--"):
		return through(s, 2, "\n")
	case strings.HasPrefix(s, "/*"):
		return comment(s)
	case s[0] == '\'' || s[0] == '"':
		return through(s, 1, s[:1]) // a doubled quote begins another text
	case s[0] == '$':
		if tag := dollarTag().FindString(s); tag != "" {
			return through(s, len(tag), tag)
		}
		return 1
	case isName(s[0]):
		n := 1
		for n < len(s) && (isName(s[n]) || s[n] == '$') {
			n++
		}
		if n == 1 && s[0]|0x20 == 'e' && len(s) > 1 && s[1] == '\'' {
			return escaped(s)
		}
		return n
	}
	return 1
}

func isName(c byte) bool {
	return c == '_' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// through returns the length of s through the first end after start.
func through(s string, start int, end string) int {
	if i := strings.Index(s[start:], end); i >= 0 {
		return start + i + len(end)
	}
	return len(s)
}

// comment returns the length of a comment, which may be nested.
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

// escaped returns the length of a text E'...', in which a backslash escapes the next character.
func escaped(s string) int {
	for i := 2; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '\'':
			return i + 1
		}
	}
	return len(s)
}
