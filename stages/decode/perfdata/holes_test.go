package perfdata

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// In a recording that perf did not finish, the reader skips a hole of a quarter of a terabyte, and
// finds the records after it.
func TestHoles(t *testing.T) {
	const large = 1 << 38
	for _, behind := range []bool{false, true} {
		b := recording(binary.LittleEndian)
		content := b.file()
		copy(content[48:56], make([]byte, 8)) // the size of the data
		want := reasonsOf(openFile(t, content))
		path := filepath.Join(t.TempDir(), "perf.data")
		f, err := os.Create(path)
		if err == nil {
			_, err = f.Write(content)
		}
		if err != nil {
			t.Fatal(err)
		}
		if behind {
			_, err = f.WriteAt(b.data, int64(large+len(content)%8))
		} else {
			err = f.Truncate(large)
		}
		if err := errors.Join(err, f.Close()); err != nil {
			t.Skipf("no file can be so large here: %v", err)
		}
		rec := New().Open(t.Context(), path)
		t.Cleanup(func() { rec.Close() })
		got := reasonsOf(rec)
		if got["bad-record"] != want["bad-record"]+1 {
			t.Errorf("records behind the hole: %t: %v, without a hole %v", behind, got, want)
		}
	}
}
