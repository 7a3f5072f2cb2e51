package storedir

import (
	"strings"
	"testing"
	"time"
)

func TestParseStart(t *testing.T) {
	for text, want := range map[string]string{
		"2026-11-28T02:00:30Z": "2026-11-28T02:00:30Z", "2026-11-28T02:00Z": "2026-11-28T02:00:00Z",
		"2026-11-28T02:00:30.123456789Z": "2026-11-28T02:00:30.123456789Z",
		"2026-11-28T02:00:30+01:00":      "2026-11-28T01:00:30Z", "2026-11-28T02:00-05:00": "2026-11-28T07:00:00Z",
		"2026-11-28 02:00": "2026-11-28T02:00:00Z", "2026-11-28T02:00:30": "2026-11-28T02:00:30Z",
		"2026-11-28": "2026-11-28T00:00:00Z", "20261128": "2026-11-28T00:00:00Z",
		"2026-11-28_0200": "2026-11-28T02:00:00Z", "2026-11-28_020030": "2026-11-28T02:00:30Z", "2026-11-28_02-00": "2026-11-28T02:00:00Z",
		"20261128T0200Z": "2026-11-28T02:00:00Z", "20261128-0200": "2026-11-28T02:00:00Z", "20261128_020030": "2026-11-28T02:00:30Z",
		"20261128020030": "2026-11-28T02:00:30Z", "202611280200": "2026-11-28T02:00:00Z", "20261128t020030z": "2026-11-28T02:00:30Z",
	} {
		if got, err := ParseStart(text); err != nil || FormatStart(got) != want {
			t.Errorf("%s: %s, %v; want %s", text, FormatStart(got), err, want)
		}
	}
	for _, text := range []string{"", "yesterday", "2026", "2026-11", "2026-13-01", "28.11.2026", "0001-01-01", "02:00", "1795831200", "2026-11-28T25:00"} {
		if got, err := ParseStart(text); err == nil {
			t.Errorf("%q: %s, want an error", text, FormatStart(got))
		}
	}
}

// TestCopiedTogether checks that files that were recorded one after the other, however quickly, are
// not taken for copies, and that files that appeared faster than they can have been recorded are.
func TestCopiedTogether(t *testing.T) {
	at := func(length time.Duration, seconds ...float64) (files []FileTime) {
		for _, s := range seconds {
			files = append(files, FileTime{time.Unix(1_795_831_200, 0).Add(time.Duration(s * 1e9)), length})
		}
		return files
	}
	for name, x := range map[string]struct {
		files []FileTime
		want  string
	}{
		"none":             {nil, ""},
		"nights":           {at(time.Minute, 0, 86_400, 172_800), ""},
		"in a loop":        {at(200*time.Millisecond, 0, 0.25, 0.5, 0.75), ""},
		"two":              {at(time.Minute, 0, 0.1), ""},
		"copied":           {at(time.Minute, 0.5, 0, 1.75, 3), "4 recordings do not tell when they started, and their files have the same time, 2026-11-28 02:00:00: "},
		"copied in two":    {at(time.Minute, 0, 0, 0, 3600, 3600, 3600), "6 recordings do not tell when they started, and their files have the same time in 2 groups, the first 2026-11-28 02:00:00: "},
		"without a length": {at(0, 0, 0, 0), "3 recordings do not tell when they started, and their files have the same time, 2026-11-28 02:00:00: "},
	} {
		if got := CopiedTogether(x.files); (got == "") != (x.want == "") || !strings.HasPrefix(got, x.want) {
			t.Errorf("%s: %s, want %s", name, got, x.want)
		}
	}
}
