package gprofng

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

var entities = map[string]string{"lt": "<", "gt": ">", "amp": "&", "quot": `"`, "apos": "'"}

// plainText decodes what the collector writes for bytes that XML or the log cannot contain. Only
// such codes give bytes that are not UTF-8: others are replaced.
func plainText(b []byte) string {
	s := text(b)
	if strings.IndexByte(s, '&') >= 0 {
		s = replaceEntities(s)
	}
	if strings.IndexByte(s, '%') >= 0 {
		s = replaceBytes(s)
	}
	return s
}

// replaceBytes decodes `%xx%`, which encodes a byte that is not printable ASCII
// (gprofng-experiment 2.1). The collector does not escape a `%`, so text that looks like the code
// of a printable character is literal; so is the code of NUL, which ends the collector's strings.
func replaceBytes(s string) string {
	var out strings.Builder
	for {
		i := strings.IndexByte(s, '%')
		if i < 0 {
			return out.String() + s
		}
		out.WriteString(s[:i])
		s = s[i:]
		if code, err := strconv.ParseUint(s[1:min(len(s), 3)], 16, 8); err == nil && len(s) > 3 && s[3] == '%' && (0 < code && code < ' ' || code > '~') {
			out.WriteByte(byte(code))
			s = s[len("%xx%"):]
			continue
		}
		out.WriteByte('%')
		s = s[1:]
	}
}

// maxEntity is the length of the longest entity, with `&` and `;`.
const maxEntity = len("&#1114111;")

func replaceEntities(s string) string {
	var out strings.Builder
	for {
		i := strings.IndexByte(s, '&')
		if i < 0 {
			return out.String() + s
		}
		out.WriteString(s[:i])
		s = s[i:]
		end := strings.IndexByte(s[:min(len(s), maxEntity)], ';')
		r, ok := "", false
		if end > 0 {
			r, ok = entity(s[1:end])
		}
		if !ok { // a bare `&`
			r, end = "&", 0
		}
		out.WriteString(r)
		s = s[end+1:]
	}
}

func entity(name string) (string, bool) {
	code, ok := strings.CutPrefix(name, "#")
	if !ok {
		r, ok := entities[name]
		return r, ok
	}
	base := 10
	if hex, ok := strings.CutPrefix(code, "x"); ok {
		code, base = hex, 16
	}
	n, err := strconv.ParseUint(code, base, 32)
	if err != nil || n > utf8.MaxRune {
		return "", false
	}
	return string(rune(n)), true
}

// text replaces bytes that are not UTF-8.
func text(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }
