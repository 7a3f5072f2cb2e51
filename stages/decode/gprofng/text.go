package gprofng

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

var entities = map[string]string{"lt": "<", "gt": ">", "amp": "&", "quot": `"`, "apos": "'"}

// plainText decodes the codes that the collector writes for bytes that XML or the log cannot
// contain. A decoded code may be invalid UTF-8; other invalid bytes are replaced.
func plainText(b []byte) string {
	return replaceCodes(replaceCodes(text(b), '&', entityCode), '%', byteCode)
}

// replaceCodes replaces the codes that begin with mark by their text. decode returns the text and
// the code's length, 0 if the mark is literal.
func replaceCodes(s string, mark byte, decode func(s string) (text string, n int)) string {
	var out strings.Builder
	for {
		i := strings.IndexByte(s, mark)
		if i < 0 {
			return out.String() + s
		}
		out.WriteString(s[:i])
		s = s[i:]
		text, n := decode(s)
		if n == 0 {
			text, n = s[:1], 1
		}
		out.WriteString(text)
		s = s[n:]
	}
}

// byteCode decodes `%xx%`, which encodes a byte that is not printable ASCII (gprofng-experiment
// 2.1). The collector does not escape `%`: text that looks like the code of a printable character
// is literal. The code of NUL is also literal, since NUL ends the collector's strings.
func byteCode(s string) (text string, n int) {
	code, err := strconv.ParseUint(s[1:min(len(s), 3)], 16, 8)
	if err != nil || len(s) <= 3 || s[3] != '%' || code == 0 || ' ' <= code && code <= '~' {
		return "", 0
	}
	return string([]byte{byte(code)}), len("%xx%")
}

// maxEntity is the length of the longest entity, with `&` and `;`.
const maxEntity = len("&#1114111;")

// entityCode decodes an entity.
func entityCode(s string) (text string, n int) {
	end := strings.IndexByte(s[:min(len(s), maxEntity)], ';')
	if end < 0 {
		return "", 0
	}
	text, ok := entity(s[1:end])
	if !ok {
		return "", 0
	}
	return text, end + 1
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

// parseUnsigned reads a number as the collector writes it: decimal or `0x...`,
// perhaps with a `+` (gprofng-experiment 2.1).
func parseUnsigned(s string) (uint64, error) {
	digits := strings.TrimPrefix(strings.TrimSpace(s), "+")
	base := 10
	if hex, ok := strings.CutPrefix(strings.ToLower(digits), "0x"); ok {
		digits, base = hex, 16
	}
	n, err := strconv.ParseUint(digits, base, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a number", s)
	}
	return n, nil
}

// parseInt reads a number like parseUnsigned, but it may be negative.
func parseInt(s string) (int64, error) {
	digits, negative := strings.CutPrefix(strings.TrimSpace(s), "-")
	n, err := parseUnsigned(digits)
	if err != nil || n > math.MaxInt64 {
		return 0, fmt.Errorf("%q is not a number", s)
	}
	if negative {
		return -int64(n), nil
	}
	return int64(n), nil
}

const (
	nsPerSecond = 1_000_000_000
	maxSeconds  = math.MaxInt64/nsPerSecond - 1
)

// parseTime reads a time stamp `S.FFFFFFFFF` as nanoseconds
// (gprofng-experiment 2.2). The digits after the dot are a decimal fraction.
func parseTime(s string) (int64, error) {
	whole, fraction, _ := strings.Cut(strings.TrimSpace(s), ".")
	seconds, err := parseInt(whole)
	if err != nil || seconds < -maxSeconds || seconds > maxSeconds {
		return 0, fmt.Errorf("%q is not a time", s)
	}
	fraction = (fraction + "000000000")[:9]
	ns, err := strconv.ParseUint(fraction, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("%q is not a time", s)
	}
	if strings.HasPrefix(whole, "-") {
		return seconds*nsPerSecond - int64(ns), nil
	}
	return seconds*nsPerSecond + int64(ns), nil
}
