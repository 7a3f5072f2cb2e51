//go:build cgo

package text

import (
	"bytes"
	"strings"
	"testing"

	"stackmill/internal/terminal"
	"stackmill/queries/digest"
	"stackmill/queries/rank"
)

// In Markdown, names are not interpreted as markup, and no item of a list begins with blanks, which
// would make it code.
func TestDigestMarkdown(t *testing.T) {
	step := rank.Step{Before: 100, After: 120, Newest: 1}
	change := func(name string) digest.Change {
		return digest.Change{Function: &digest.Function{Name: name}, Step: step, State: rank.Sure, From: 1, Ratio: 1.2, Low: 1.1, High: 1.3}
	}
	nights := []digest.Night{{Name: "2026-01-01"}, {Name: "2026-01-02", At: 1}}
	v := &digest.Verdict{Series: &digest.Series{Name: "a<b>c [clock]", Program: "a<b>c", Nights: nights}, Changes: []digest.Change{change("<Total>"), change("f")}}
	v.Shared = v.Changes
	f := &digest.Finding{Verdict: v, Details: &digest.Details{Commands: []string{"stackmill compare", "stackmill trend"}}}
	r := &digest.Result{
		Request: digest.Defaults(), SinceNight: "2026-01-01", Sure: []*digest.Finding{f},
		Together: []digest.Together{{Night: nights[1], Most: []*digest.Finding{f}, Middle: 1.2}}, Warnings: []string{"<NAME> is left out"},
	}
	var out bytes.Buffer
	if err := Digest(&terminal.Output{Stdout: &out}, r, true); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	for _, want := range []string{"1. **a&lt;b>c**: ", "\n* in `<Total>`: ", "\n* in `f`: ", "\n* next `stackmill trend`\n", "  * most: a&lt;b>c (&lt;Total>)\n", "\n\nwarning: &lt;NAME> is left out\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "*  ") {
		t.Error(text)
	}
}
