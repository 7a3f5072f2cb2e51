package schema

import "testing"

// Every rule has its own title and identifier.
func TestTitles(t *testing.T) {
	for _, rule := range Rules() {
		if rule.Title() == "" || RuleOf(rule.String()) != rule {
			t.Errorf("rule %d: id %q, title %q", uint8(rule), rule, rule.Title())
		}
	}
	if got := RuleOf("no rule"); got != NoRule || got.String() != "" || got.Title() != "" {
		t.Errorf("an unknown rule is %d", got)
	}
}

func TestOwners(t *testing.T) {
	for object, want := range map[string]Owner{
		"libgomp.so.1.0.0": RuntimeCode, "libiomp5.so": RuntimeCode,
		"libc.so.6": SystemCode, "libc-2.31.so": SystemCode, "ld-linux-x86-64.so.2": SystemCode, "[vdso]": SystemCode,
		"app": ProgramCode, "libcrypto.so.3": ProgramCode, "": ProgramCode,
	} {
		if got := OwnerOf(object); got != want {
			t.Errorf("%q: %d, want %d", object, got, want)
		}
	}
}
