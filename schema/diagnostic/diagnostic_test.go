package diagnostic

import "testing"

// Many problems with one reason in one file become a bounded number of rows that count all of them;
// other reasons keep their rows.
func TestFloodIsCounted(t *testing.T) {
	var l Log
	for i := range 1000 {
		l.Addf(Error, "profile", int64(i), "bad-packet", "packet %d", i)
	}
	l.Addf(Warning, "profile", NoOffset, "other", "one more")
	l.Add(Problem{Severity: Error, Process: 2, File: "profile", Reason: "bad-packet", Count: 5})
	var total int64
	for _, p := range l.Problems {
		if p.Reason == "bad-packet" {
			total += p.Count
		}
	}
	if total != 1005 {
		t.Errorf("%d packets counted, want 1005", total)
	}
	if n := len(l.Problems); n != maxPerReason+2 {
		t.Errorf("%d rows, want %d", n, maxPerReason+2)
	}
	if n := l.Errors(); n != maxPerReason+1 {
		t.Errorf("%d errors, want %d", n, maxPerReason+1)
	}
}

func TestString(t *testing.T) {
	for _, tt := range []struct {
		p    Problem
		want string
	}{
		{Problem{Severity: Error, File: "map.xml", Offset: 0, Message: "cut"}, "error: map.xml at offset 0: cut"},
		{Problem{Severity: Info, File: "profile", Offset: NoOffset, Message: "empty"}, "info: profile: empty"},
	} {
		if got := tt.p.String(); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}
