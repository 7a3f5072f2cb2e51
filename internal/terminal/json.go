package terminal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// MarshalJSON is json.Marshal without escapes for HTML, but with escapes for invisible characters,
// because these can control a terminal.
// A number that is not finite makes the whole value null; EncodeJSON reports it.
func MarshalJSON(v any) []byte {
	text, err := EncodeJSON(v)
	if err != nil {
		return []byte("null")
	}
	return text
}

// EncodeJSON is MarshalJSON, but returns an error if the value cannot be encoded as JSON.
func EncodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return escapeInvisible(bytes.TrimSpace(b.Bytes())), nil
}

// escapeInvisible escapes the invisible characters in JSON.
func escapeInvisible(text []byte) []byte {
	if !bytes.ContainsFunc(text, func(c rune) bool { return !IsVisible(c) }) {
		return text
	}
	out := make([]byte, 0, len(text)+16)
	for _, c := range string(text) {
		switch {
		case IsVisible(c) || c == '\n':
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

// PrintJSON prints a value on one line, or indented for people.
func PrintJSON(out io.Writer, v any, indented bool) error {
	text, err := EncodeJSON(v)
	if err != nil {
		return err
	}
	if indented {
		var b bytes.Buffer
		if err := json.Indent(&b, text, "", "  "); err != nil {
			return err
		}
		text = b.Bytes()
	}
	_, err = out.Write(append(text, '\n'))
	return err
}
