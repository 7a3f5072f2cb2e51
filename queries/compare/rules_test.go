package compare

import (
	"fmt"
	"testing"
)

func TestParseRules(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT 1":                      "[{rule 1 SELECT 1\n}]",
		"-- a\n--  b\nSELECT 1;\n":      "[{a b SELECT 1}]",
		"SELECT\n 1 -- why\n;SELECT 2":  "[{rule 1 SELECT\n 1 -- why\n;SELECT 2\n}]",
		"-- a\nSELECT 1;\n\nSELECT 2;":  "[{a SELECT 1} {rule 2 SELECT 2}]",
		"SELECT 1;;\n-- a\nSELECT ';';": "[{rule 1 SELECT 1;} {a SELECT ';'}]",
	} {
		rules, err := ParseRules(text)
		if got := fmt.Sprint(rules); err != nil || got != want {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"", "-- nothing\n\n"} {
		if rules, err := ParseRules(text); err == nil {
			t.Errorf("%q: %v", text, rules)
		}
	}
}
