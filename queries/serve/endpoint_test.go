package serve

import "testing"

// Whole numbers beyond 2^53 are strings in JSON, and nothing else changes.
func TestQuoteLarge(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":9007199254740992,"b":-9007199254740993,"c":[9223372036854775807]}`: `{"a":9007199254740992,"b":"-9007199254740993","c":["9223372036854775807"]}`,
		`{"share":0.03355704697986577,"x":1.2345678901234567e+20,"n":12}`:        `{"share":0.03355704697986577,"x":1.2345678901234567e+20,"n":12}`,
		`{"9223372036854775807":"9223372036854775807 \\\" 9223372036854775807"}`: `{"9223372036854775807":"9223372036854775807 \\\" 9223372036854775807"}`,
	} {
		if got := string(quoteLarge([]byte(text))); got != want {
			t.Errorf("%s becomes %s, not %s", text, got, want)
		}
	}
}
