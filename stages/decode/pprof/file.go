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

// maxProfile is the maximum decompressed size of a profile, since it is held in memory. Profiles of
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

// enoughFields is the number of valid fields that identify a profile if its head has no sample
// type: some writers put strings first. A sample type alone identifies a profile, since no text
// file contains one.
const enoughFields = 8

// plausible reports whether bytes may be the beginning of a profile.
func plausible(head []byte) bool {
	types, known := 0, 0
	for len(head) > 0 {
		number, wire, n := protowire.ConsumeTag(head)
		if n < 0 {
			break // the head ends here
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

// numbersOnly returns an error unless all fields of a message are numbers, as in a sample type.
func numbersOnly(content []byte) error {
	return fields(content, func(f field) error {
		if f.wire != protowire.VarintType || f.number > 2 {
			return errors.New("a field is not a number")
		}
		return nil
	})
}

// The fields of a profile that the decoder reads, and the highest field that exists.
const (
	fieldSampleType  protowire.Number = 1
	fieldSample      protowire.Number = 2
	fieldMapping     protowire.Number = 3
	fieldLocation    protowire.Number = 4
	fieldFunction    protowire.Number = 5
	fieldString      protowire.Number = 6
	fieldDropFrames  protowire.Number = 7
	fieldKeepFrames  protowire.Number = 8
	fieldTime        protowire.Number = 9
	fieldDuration    protowire.Number = 10
	fieldDefaultType protowire.Number = 14
	fieldDocURL      protowire.Number = 15
	fieldLast        protowire.Number = 15
)

// The fields of a location.
const (
	locationMapping protowire.Number = 2
	locationAddress protowire.Number = 3
	locationLine    protowire.Number = 4
)

// wireTypes are the wire types of a profile's fields.
var wireTypes = map[protowire.Number]protowire.Type{
	1: protowire.BytesType, 2: protowire.BytesType, 3: protowire.BytesType, 4: protowire.BytesType, 5: protowire.BytesType, 6: protowire.BytesType,
	7: protowire.VarintType, 8: protowire.VarintType, 9: protowire.VarintType, 10: protowire.VarintType,
	11: protowire.BytesType, 12: protowire.VarintType, 13: protowire.VarintType, 14: protowire.VarintType, 15: protowire.VarintType,
}

// fieldComment is a repeated field of numbers, packed or not.
const fieldComment protowire.Number = 13

// field is a field of a message: a number, or bytes.
type field struct {
	number protowire.Number
	wire   protowire.Type
	value  uint64
	bytes  []byte
}

// fields calls each for every field of a message, in order.
func fields(message []byte, each func(field) error) error {
	for whole := len(message); len(message) > 0; {
		f, n, err := next(message)
		if err != nil {
			return fmt.Errorf("at byte %d of %d: %w", whole-len(message), whole, err)
		}
		if err := each(f); err != nil {
			return err
		}
		message = message[n:]
	}
	return nil
}

// next returns the first field of a message, and its length.
func next(message []byte) (f field, n int, err error) {
	var tag, value int
	f.number, f.wire, tag = protowire.ConsumeTag(message)
	if tag < 0 {
		return f, 0, protowire.ParseError(tag)
	}
	switch f.wire {
	case protowire.VarintType:
		f.value, value = protowire.ConsumeVarint(message[tag:])
	case protowire.BytesType:
		f.bytes, value = protowire.ConsumeBytes(message[tag:])
	default:
		value = protowire.ConsumeFieldValue(f.number, f.wire, message[tag:])
	}
	if value < 0 {
		return f, 0, protowire.ParseError(value)
	}
	return f, tag + value, nil
}

// numbers calls each for every number of a repeated field, packed or not.
func (f *field) numbers(each func(uint64) error) error {
	if f.wire == protowire.VarintType {
		return each(f.value)
	}
	for b := f.bytes; len(b) > 0; {
		v, n := protowire.ConsumeVarint(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		if err := each(v); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}
