package terminal

import "strings"

// ShellQuote returns a word as a shell reads it: in single quotes, unless it needs none.
func ShellQuote(word string) string {
	plain := func(r rune) bool {
		return r < 0x80 && (r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || strings.ContainsRune("-_./=,:%@+", r))
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
