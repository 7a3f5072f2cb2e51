package terminal

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/text"
	"pgregory.net/rapid"
)

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"":                              "",
		"operator<< <int>(T&)":          "operator<< <int>(T&)",
		"größe 漢字 🎉":                    "größe 漢字 🎉",
		"a\x1b[31mb":                    `a\x1b[31mb`,
		"a\nb\tc\rd\x00\x7f":            `a\x0ab\x09c\x0dd\x00\x7f`,
		"\u009b2J":                      `\u009b2J`,
		"\x9b2J":                        `\x9b2J`,
		"admin\u202egpj.exe":            `admin\u202egpj.exe`,
		"\u2066x\u2069":                 `\u2066x\u2069`,
		"a\u200bb\u00adc\ufeffd":        `a\u200bb\u00adc\ufeffd`,
		"a\u2028b\u2029":                `a\u2028b\u2029`,
		"\U000e0041":                    `\U000e0041`,
		"a\u00a0b\u3000c":               `a\u00a0b\u3000c`,
		"a\u3164b\u115fc\ufe0fd\u034fe": `a\u3164b\u115fc\ufe0fd\u034fe`,
		"\ufffd":                        "\ufffd",
		`C:\dir\new "\n" '\0'`:          `C:\dir\new "\n" '\0'`,
		`\x1b`:                          `\\x1b`,
		"\\\x1b":                        `\\\x1b`,
		`\u202 \xZZ \U1234`:             `\u202 \xZZ \U1234`,
	} {
		if got := Printable(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
	if got := PrintableLine("\tif (x)\x1b {"); got != "\tif (x)\\x1b {" {
		t.Errorf("a line: %q", got)
	}
}

var escapes = regexp.MustCompile(`\\+(x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})`)

// readBack is the inverse of Printable.
func readBack(shown string) string {
	return escapes.ReplaceAllStringFunc(shown, func(s string) string {
		rest := strings.TrimLeft(s, `\`)
		slashes := len(s) - len(rest)
		if slashes%2 == 0 {
			return strings.Repeat(`\`, slashes/2) + rest
		}
		c, _ := strconv.Unquote(`"\` + rest + `"`)
		return strings.Repeat(`\`, slashes/2) + c
	})
}

// Printed text can be read back, has only characters that a terminal shows, and is as wide as
// textWidth says.
func TestPrintableReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(rapid.OneOf(
			rapid.SampledFrom([]string{`\`, "x1b", "u202e", "U000e0041", "x", "1b", "\x1b", "\u202e", "\x9b", "\xff", "\u009b", "é", "漢", "\n", "\U000e0041", "\xe2\x80"}),
			rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
		)).Draw(t, "pieces")
		in := strings.Join(pieces, "")
		got := Printable(in)
		if back := readBack(got); back != in {
			t.Fatalf("%q is shown as %s, which reads %q", in, got, back)
		}
		width := 0 // width of the characters one by one, as tables count
		for _, c := range got {
			if unicode.In(c, unicode.C, unicode.Zl, unicode.Zp) {
				t.Fatalf("%q is shown with %U", in, c)
			}
			width += text.RuneWidth(c)
		}
		if !utf8.ValidString(got) || width != text.StringWidthWithoutEscSequences(got) {
			t.Fatalf("%q", got)
		}
	})
}

func TestMarkdownCell(t *testing.T) {
	for in, want := range map[string]string{
		"<Total>":               "&lt;Total>",
		"__libc_start_main":     `\_\_libc_start_main`,
		"f(char*, int*)":        `f(char\*, int\*)`,
		"f [clone .cold]":       `f \[clone .cold\]`,
		"![x](http://e/)":       `!\[x\](http://e/)`,
		"a&lt;`b`~c~\x1b":       "a&amp;lt;\\`b\\`\\~c\\~\\\\x1b",
		"<img src=x onerror=y>": "&lt;img src=x onerror=y>",
	} {
		if got := markdownCell(Printable(in)); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}
