package gprofng_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"stackmill/schema/diagnostic"
)

// A description without one of the fields that its type always has is reported: the
// values would be 0.
func TestIncompleteLayouts(t *testing.T) {
	log := filepath.Join(rich(t).Dir, "log.xml")
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	packets := regexp.MustCompile(`(?s)<profpckt kind="(2|3|4|5|7|8|19)".*?</profpckt>`)
	fields := regexp.MustCompile(`<field name="(TSTAMP|FRINFO|CPUID|MSTATE|NTICK|SRQST|SOBJ|IOTYPE|IOFD|IONBYTE|IORQST|HTYPE|HSIZE|HVADDR|HOVADDR|HWCTAG|HWCINT)"[^>]*>`)
	tried := 0
	for _, k := range packets.FindAllIndex(text, -1) {
		for _, f := range fields.FindAllIndex(text[k[0]:k[1]], -1) {
			from, to := k[0]+f[0], k[0]+f[1]
			if err := os.WriteFile(log, slices.Concat(text[:from], text[to:]), 0o644); err != nil {
				t.Fatal(err)
			}
			rec := open(t, filepath.Dir(log))
			if !slices.ContainsFunc(rec.Problems.Problems, func(p diagnostic.Problem) bool { return p.Severity == diagnostic.Error }) {
				t.Errorf("nothing is said without %s", text[from:to])
			}
			tried++
		}
	}
	if tried < 20 {
		t.Errorf("%d fields", tried)
	}
}
