package perfdata

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/stages/decode"
)

// A record of a loss tells when events are missing. If counters say that more were lost, they may be
// missing at any time.
func TestGaps(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(wallData, "lost_small.data"))
	if err != nil {
		t.Fatal(err)
	}
	gaps := func() []decode.RecordingGap {
		path := filepath.Join(t.TempDir(), "lost.data")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		rec := New().Open(t.Context(), path)
		defer rec.Close()
		return rec.Gaps
	}
	lost := decode.RecordingGap{FromNS: 559190, UntilNS: 1540966, Reason: gapLost}
	if diff := cmp.Diff([]decode.RecordingGap{lost}, gaps()); diff != "" {
		t.Errorf("as recorded: (-want +got)\n%s", diff)
	}
	changed := 0
	for at := 16; at+8 <= len(data); at += 8 { // the type of the record, the id of the event, how many
		if binary.LittleEndian.Uint32(data[at-16:]) == recordLost && binary.LittleEndian.Uint64(data[at:]) == 267 {
			binary.LittleEndian.PutUint64(data[at:], 200)
			changed++
		}
	}
	whole := decode.RecordingGap{UntilNS: 19799710, CPU: -1, Reason: gapLost}
	if diff := cmp.Diff([]decode.RecordingGap{whole, lost}, gaps()); diff != "" || changed != 1 {
		t.Errorf("%d changed: (-want +got)\n%s", changed, diff)
	}
}
