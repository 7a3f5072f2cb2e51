package elf

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// compressions are the formats of compressed files, such as kernel modules, by magic number.
var compressions = []struct {
	magic  string
	unpack func([]byte) ([]byte, error)
}{
	{"\x1f\x8b", func(b []byte) ([]byte, error) {
		r, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			return nil, err
		}
		return readBounded(r, len(b))
	}},
	{"\xfd7zXZ\x00", unxz},
	{"\x28\xb5\x2f\xfd", func(b []byte) ([]byte, error) {
		r, err := newZstd(b)
		if err != nil {
			return nil, err
		}
		defer r.Close()
		return readBounded(r, len(b))
	}},
}

// unpack decompresses a file that is compressed as a whole; for other files, packed is false. The
// error wraps ErrNotELF.
func unpack(path string, b []byte) (content []byte, packed bool, err error) {
	for _, p := range compressions {
		if bytes.HasPrefix(b, []byte(p.magic)) {
			if content, err = p.unpack(b); err != nil {
				err = fmt.Errorf("%s: %v: %w", path, err, ErrNotELF)
			}
			return content, true, err
		}
	}
	return nil, false, nil
}

func newZstd(b []byte) (*zstd.Decoder, error) {
	return zstd.NewReader(bytes.NewReader(b), zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderMaxWindow(128<<20), zstd.WithDecoderLowmem(true))
}

// readBounded reads everything, up to the limit for compressed bytes of input.
func readBounded(r io.Reader, compressed int) ([]byte, error) {
	most := inflatedLimit(compressed)
	b, err := io.ReadAll(io.LimitReader(r, int64(most)+1))
	if err == nil && len(b) > most {
		err = fmt.Errorf("more than the limit of %d bytes when decompressed", most)
	}
	return b, err
}
