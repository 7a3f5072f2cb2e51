package elf

import (
	"bytes"
	"io"
	"testing"

	"github.com/ulikunitz/xz"
)

// If unxz accepts a file, a complete xz decoder reads the same.
func FuzzUnxz(f *testing.F) {
	for _, c := range []xz.WriterConfig{{}, {CheckSum: xz.CRC32, BlockSize: 64}} {
		var b bytes.Buffer
		w, err := c.NewWriter(&b)
		if err != nil {
			f.Fatal(err)
		}
		w.Write(bytes.Repeat([]byte("symbols and names "), 20))
		w.Close()
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := unxz(b)
		if err != nil {
			return
		}
		r, err := xz.NewReader(bytes.NewReader(b))
		if err != nil {
			return
		}
		want, err := io.ReadAll(r)
		if err == nil && !bytes.HasPrefix(want, got) {
			t.Errorf("%d bytes, want %d", len(got), len(want))
		}
	})
}
