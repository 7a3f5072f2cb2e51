package perfdata

import (
	"os"
	"path/filepath"
	"testing"

	"stackmill/schema"
)

// Whatever a file holds, it is read to its end, and every sample that is counted
// can be read again.
func FuzzOpen(f *testing.F) {
	f.Add([]byte("PERFILE2\x10\x00\x00\x00\x00\x00\x00\x00"))
	f.Add(tiny(false))
	f.Add(tiny(true))
	f.Add(foreignRecording().file())
	f.Fuzz(func(t *testing.T, content []byte) {
		path := filepath.Join(t.TempDir(), "perf.data")
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
		rec := New().Open(path)
		defer rec.Close()
		for _, p := range rec.Processes {
			events := p.Events(schema.Perf)
			defer events.Close()
			n := int64(0)
			for {
				b, err := events.Next()
				if err != nil {
					t.Fatal(err)
				}
				if b == nil {
					break
				}
				n += b.NumRows()
				b.Release()
			}
			if n != p.Records(schema.Perf) {
				t.Errorf("%d samples, %d announced", n, p.Records(schema.Perf))
			}
		}
	})
}
