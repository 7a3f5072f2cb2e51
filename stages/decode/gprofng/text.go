package gprofng

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

var entities = map[string]string{"lt": "<", "gt": ">", "amp": "&", "quot": `"`, "apos": "'"}

// plainText replaces entities, and bytes that are not UTF-8, which tables may not hold.
func plainText(b []byte) string {
	if bytes.IndexByte(b, '&') < 0 {
		return text(b)
	}
	return text([]byte(replaceEntities(string(b))))
}

// maxEntity is the longest entity, `&` and `;` included.
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
		if !ok { // a bare `&` stands for itself
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
