package gprofng

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// The log file's modification time supplies the fraction of a second that the log lacks, unless it
// was changed later.
func TestBegan(t *testing.T) {
	second := time.Unix(1_700_000_000, 0).UTC()
	log := filepath.Join(t.TempDir(), logFile)
	if got := began(second, log); got != second.Add(time.Second-1) {
		t.Errorf("without a file: %v", got)
	}
	if err := os.WriteFile(log, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for written, want := range map[time.Duration]time.Duration{
		300 * time.Millisecond: 300 * time.Millisecond,
		0:                      time.Second - 1,
		time.Minute:            time.Second - 1,
		-time.Minute:           time.Second - 1,
	} {
		if err := os.Chtimes(log, second, second.Add(written)); err != nil {
			t.Fatal(err)
		}
		if got := began(second, log); got != second.Add(want) {
			t.Errorf("written %v later: %v", written, got)
		}
	}
}
