package pprof

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// The fields of a profile that the decoder reads, and the last one that exists.
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

// fieldComment is a repeated field whose numbers may be packed.
const fieldComment protowire.Number = 13

// field is a field of a message: a number, or bytes.
type field struct {
	number protowire.Number
	wire   protowire.Type
	value  uint64
	bytes  []byte
}

// fields calls each for the fields of a message, in order.
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

// numbers calls each for the numbers of a repeated field, packed or not.
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
