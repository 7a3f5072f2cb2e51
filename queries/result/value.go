package result

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"stackmill/internal/terminal"
)

// Plain converts a value to one that JSON can hold, with exact numbers inside of lists and objects.
func Plain(v any, kind string) any {
	switch v := v.(type) {
	case time.Time:
		switch kind {
		case "DATE":
			return v.Format(time.DateOnly)
		case "TIME":
			return v.Format("15:04:05.999999")
		}
		return v.Format(time.RFC3339Nano)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
	case float32:
		return Plain(float64(v), kind)
	case []byte:
		if kind == "UUID" && len(v) == 16 {
			return fmt.Sprintf("%x-%x-%x-%x-%x", v[:4], v[4:6], v[6:8], v[8:10], v[10:])
		}
		return hex.EncodeToString(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = Plain(Exact(v[i], ""), "")
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k := range v {
			out[k] = Plain(Exact(v[k], k), "")
		}
		return out
	case nil, bool, string, int8, int16, int32, int64, uint8, uint16, uint32, uint64:
	default:
		return plainOfEngine(v)
	}
	return v
}

// Cell formats a value for people and CSV; NULL is empty.
func Cell(v any, kind string) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return floating(v)
	}
	switch p := Plain(v, kind).(type) {
	case string:
		return p
	case []any, map[string]any:
		return string(Marshal(p))
	default:
		return fmt.Sprint(p)
	}
}

// floating formats a number as JSON does: with an exponent only if it is very small or large.
func floating(v float64) string {
	format := byte('f')
	if a := math.Abs(v); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'g'
	}
	return strconv.FormatFloat(v, format, -1, 64)
}

// Marshal is json.Marshal without escapes for HTML, but with escapes for invisible characters,
// which could control a terminal.
func Marshal(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return []byte("null")
	}
	return visible(bytes.TrimSpace(b.Bytes()))
}

// visible escapes the invisible characters in JSON.
func visible(text []byte) []byte {
	if !bytes.ContainsFunc(text, func(c rune) bool { return !terminal.IsVisible(c) }) {
		return text
	}
	out := make([]byte, 0, len(text)+16)
	for _, c := range string(text) {
		switch {
		case terminal.IsVisible(c) || c == '\n':
			out = utf8.AppendRune(out, c)
		case c < 1<<16:
			out = fmt.Appendf(out, `\u%04x`, c)
		default:
			high, low := utf16.EncodeRune(c)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		}
	}
	return out
}
