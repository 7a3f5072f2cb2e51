package pprof

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"google.golang.org/protobuf/encoding/protowire"

	"stackmill/internal/hosterr"
	"stackmill/internal/safefile"
)

// maxProfile is the maximum decompressed size of a profile, which is held in memory. Profiles of
// large programs have about 10 MB.
const maxProfile = 256 << 20

// gzipMagic begins compressed files.
var gzipMagic = []byte{0x1f, 0x8b}

// read returns the content of a profile, decompressed.
func read(ctx context.Context, path string) ([]byte, error) {
	f, _, err := safefile.Open(path, safefile.Recording)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	from, err := decompressed(f)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(hosterr.NewReader(ctx, io.LimitReader(from, maxProfile+1)))
	if err != nil {
		return nil, err
	}
	if len(content) > maxProfile {
		return nil, fmt.Errorf("it has more than %d MiB, decompressed", maxProfile>>20)
	}
	return content, nil
}

// decompressed reads a file that may be compressed.
func decompressed(f io.ReadSeeker) (io.Reader, error) {
	head := make([]byte, len(gzipMagic))
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	if !bytes.Equal(head[:n], gzipMagic) {
		return f, nil
	}
	return gzip.NewReader(f)
}

// detectBytes is how much of a file detect reads.
const detectBytes = 64 << 10

// detect reports whether a file begins like a profile: with fields of profile.proto, or in an
// older format.
func detect(path string) bool {
	f, _, err := safefile.Open(path, safefile.Recording)
	if err != nil {
		return false
	}
	defer f.Close()
	from, err := decompressed(f)
	if err != nil {
		return false
	}
	head, err := io.ReadAll(io.LimitReader(from, detectBytes))
	return len(head) > 0 && (err == nil || errors.Is(err, io.ErrUnexpectedEOF)) && (plausible(head) || isLegacy(head))
}

// enoughFields is how many valid fields show that a file is a profile if it has no sample type,
// which no text file contains: some writers put strings first.
const enoughFields = 8

// plausible reports whether bytes may be the beginning of a profile.
func plausible(head []byte) bool {
	types, known := 0, 0
	for len(head) > 0 {
		number, wire, n := protowire.ConsumeTag(head)
		if n < 0 {
			break // the rest was not read
		}
		if wireTypes[number] != wire || number > fieldLast {
			return false
		}
		value := protowire.ConsumeFieldValue(number, wire, head[n:])
		if value < 0 {
			break
		}
		if number == fieldSampleType {
			content, _ := protowire.ConsumeBytes(head[n:])
			if err := numbersOnly(content); err != nil {
				return false
			}
			if len(content) > 0 {
				types++
			}
		}
		known++
		head = head[n+value:]
	}
	return types > 0 || known >= enoughFields
}

// numbersOnly returns an error unless a message has nothing but numbers.
func numbersOnly(content []byte) error {
	return fields(content, func(f field) error {
		if f.wire != protowire.VarintType || f.number > 2 {
			return errors.New("another field")
		}
		return nil
	})
}
