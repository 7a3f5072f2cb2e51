package perfdata

import "testing"

// A file is found by the bytes of its name; other texts go to people.
func TestFileNames(t *testing.T) {
	recorded := []byte("/tmp/b\xffr/prög\x00junk")
	if got := fileName(recorded); got != "/tmp/b\xffr/prög" {
		t.Errorf("file name %q", got)
	}
	if got := text(recorded); got != "/tmp/b\uFFFDr/prög" {
		t.Errorf("text %q", got)
	}
	if got := fileName([]byte("no NUL")); got != "no NUL" {
		t.Errorf("file name %q", got)
	}
}
