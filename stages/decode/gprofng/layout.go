package gprofng

import (
	"fmt"
	"math"
	"slices"
)

// A field is a number in a packet.
type field struct {
	offset int
	width  int // 4 or 8; 0: the packet has no such field
	signed bool
}

// layout is the log's description of a packet type (gprofng-experiment 2.5).
type layout struct {
	typ    uint16
	fields map[string]field
	text   map[string]int // offsets of strings, which extend to the packet's end
	need   int            // size that includes all fields
	unread []string       // fields of types that are not read
}

func newLayout(typ uint16) *layout {
	return &layout{typ: typ, fields: map[string]field{}, text: map[string]int{}, need: packetHeader}
}

// alwaysUnsigned are fields that are unsigned even if their type is not.
var alwaysUnsigned = []string{"LWPID", "THRID", "CPUID", "VIRTPC", "PHYSPC"}

// maxFields is the maximum of fields in a packet; known ones have up to 20.
const maxFields = 256

// maxPacket is the largest size a packet header can state.
const maxPacket = math.MaxUint16

func (l *layout) addField(name, typ, offset string) error {
	if len(l.fields)+len(l.text)+len(l.unread) >= maxFields {
		return fmt.Errorf("it has more than %d fields", maxFields)
	}
	o, err := parseUnsigned(offset)
	if err != nil || o < packetHeader || o > maxPacket {
		return fmt.Errorf("field %s: offset %q is not inside a packet", name, offset)
	}
	f := field{offset: int(o), signed: !slices.Contains(alwaysUnsigned, name)}
	switch typ {
	case "INT32":
		f.width = 4
	case "UINT32":
		f.width, f.signed = 4, false
	case "INT64":
		f.width = 8
	case "UINT64":
		f.width, f.signed = 8, false
	case "STRING":
		l.text[name] = f.offset
		l.need = max(l.need, f.offset)
		return nil
	case "DOUBLE", "DATE": // the format has these, but no collector writes them
		l.unread = append(l.unread, name)
		return nil
	default:
		return fmt.Errorf("field %s: type %q is unknown", name, typ)
	}
	l.fields[name] = f
	l.need = max(l.need, f.offset+f.width)
	return nil
}

// get reads a field of a packet, which must be long enough; 0 if the layout lacks the field.
func (f field) get(packet []byte, order byteOrder) int64 {
	switch {
	case f.width == 8:
		return int64(order.u64(packet[f.offset:]))
	case f.width == 4 && f.signed:
		return int64(int32(order.u32(packet[f.offset:])))
	case f.width == 4:
		return int64(order.u32(packet[f.offset:]))
	}
	return 0
}
