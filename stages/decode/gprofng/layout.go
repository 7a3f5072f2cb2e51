package gprofng

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"stackmill/schema"
)

// field is the position and type of a number in a packet.
type field struct {
	offset int
	width  int // 4 or 8; 0: the packet has no such field
	signed bool
}

// layout is the log's description of a packet type (gprofng-experiment 2.5).
type layout struct {
	typ    uint16
	fields map[string]field
	text   map[string]int // offsets of strings, each of which extends to the packet's end
	need   int            // the smallest size that includes all fields
	unread []string       // names of fields whose types are not read
}

func newLayout(typ uint16) *layout {
	return &layout{typ: typ, fields: map[string]field{}, text: map[string]int{}, need: packetHeader}
}

// fieldTypes maps the names of number types to their width and sign.
var fieldTypes = map[string]field{
	"INT32": {width: 4, signed: true}, "UINT32": {width: 4}, "INT64": {width: 8, signed: true}, "UINT64": {width: 8},
}

// alwaysUnsigned lists fields that are read as unsigned even if the log declares a signed type.
var alwaysUnsigned = []string{"LWPID", "THRID", "CPUID", "VIRTPC", "PHYSPC"}

// maxFields is the maximum number of fields in a packet; known packets have up to 20.
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
	switch typ {
	case "STRING":
		l.text[name] = int(o)
		l.need = max(l.need, int(o))
		return nil
	case "DOUBLE", "DATE": // the format has these, but no collector writes them
		l.unread = append(l.unread, name)
		return nil
	}
	f, known := fieldTypes[typ]
	if !known {
		return fmt.Errorf("field %s: type %q is unknown", name, typ)
	}
	f.offset, f.signed = int(o), f.signed && !slices.Contains(alwaysUnsigned, name)
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

// The packet types (gprofng-experiment 3.2).
const (
	typeProf     = 1
	typeSync     = 2
	typeHWC      = 3
	typeXHWC     = 4
	typeHeap     = 5
	typeMHWC     = 7
	typeOProf    = 8
	typeFork     = 9
	typeRace     = 10
	typeFrame    = 11
	typeRegion   = 12
	typeDeadlock = 13
	typeTask     = 14
	typeRegionID = 15
	typeTaskID   = 16
	typeUID      = 17
	typeIO       = 19
)

// kindTypes lists the packet types in the event file of each kind.
var kindTypes = [kinds][]uint16{
	schema.Clock:    {typeProf, typeOProf},
	schema.Sync:     {typeSync},
	schema.IO:       {typeIO},
	schema.HWC:      {typeHWC, typeXHWC, typeMHWC},
	schema.Heap:     {typeHeap},
	schema.OMP:      {typeFork, typeRegion, typeTask, typeRegionID, typeTaskID},
	schema.Race:     {typeRace},
	schema.Deadlock: {typeDeadlock},
}

// isRead reports whether the decoder reads packets of a type.
func isRead(typ uint16) bool {
	return typ == typeFrame || typ == typeUID || slices.ContainsFunc(kindTypes[:], func(types []uint16) bool { return slices.Contains(types, typ) })
}

// microStates are the fields of a PROF packet: the ticks in states 0 to 9.
var microStates = []string{"UCPU", "SCPU", "TRAP", "TFLT", "DFLT", "KFLT", "ULCK", "TSLP", "WCPU", "TSTP"}

// limit is the largest valid value of an enumeration or count; a packet with a larger value is
// damaged.
type limit struct {
	field string
	max   int64
}

var limits = map[uint16][]limit{
	typeOProf: {{"MSTATE", 11}, {"NTICK", math.MaxInt32}},
	typeHeap:  {{"HTYPE", 4}},
	typeIO:    {{"IOTYPE", 9}},
}

// standard lists, by packet type, the fields that every description of the type should have,
// besides the fields of all types (gprofng-experiment 3.4).
var standard = map[uint16][]string{
	typeOProf: {"MSTATE", "NTICK"},
	typeSync:  {"SRQST", "SOBJ"},
	typeIO:    {"IOTYPE", "IOFD", "IONBYTE", "IORQST"},
	typeHeap:  {"HTYPE", "HSIZE", "HVADDR", "HOVADDR"},
	typeHWC:   {"HWCTAG", "HWCINT"},
	typeXHWC:  {"HWCTAG", "HWCINT"},
	typeMHWC:  {"HWCTAG", "HWCINT"},
}

// lacks returns the standard fields that a description lacks: their values would be 0
// (gprofng-experiment 3.3).
func (l *layout) lacks() (names []string) {
	own, ok := standard[l.typ]
	if !ok {
		return nil
	}
	for _, name := range append([]string{"TSTAMP", "FRINFO", "CPUID"}, own...) {
		if l.fields[name].width == 0 {
			names = append(names, name)
		}
	}
	if l.fields["LWPID"].width == 0 && l.fields["THRID"].width == 0 {
		names = append(names, "LWPID")
	}
	return names
}

// column maps a packet field to a column of the kind's batches.
type column struct {
	field   string
	missing int64 // the column's value if packets have no such field
	time    bool  // the field is an absolute time; 0 means that there is none
}

// payload has, for each kind, the packet fields of the columns in schema.Traits.Columns. A column
// without a field is computed (events.go).
var payload = [kinds][]column{
	schema.Clock:    {{field: "MSTATE"}, {field: "NTICK"}, {}},
	schema.Sync:     {{field: "SRQST", time: true}, {field: "SOBJ"}},
	schema.IO:       {{field: "IOTYPE"}, {field: "IOFD"}, {field: "IONBYTE"}, {field: "IORQST", time: true}, {field: "IOOFD", missing: -1}, {field: "IOFSTYPE", missing: -1}, {}},
	schema.HWC:      {{field: "HWCTAG"}, {field: "HWCINT"}, {field: "VADDR", missing: -1}, {field: "PADDR"}, {field: "VIRTPC"}, {field: "MEM_LAT"}, {field: "MEM_SRC"}},
	schema.Heap:     {{field: "HTYPE"}, {field: "HSIZE"}, {field: "HVADDR"}, {field: "HOVADDR"}},
	schema.OMP:      {{}, {field: "CPRID"}, {field: "PPRID"}, {field: "TSKID"}, {field: "PTSKID"}, {field: "PRPC"}},
	schema.Race:     {{field: "RID"}, {field: "RTYPE"}, {field: "RVADDR"}, {field: "RCNT"}},
	schema.Deadlock: {{field: "DID"}, {field: "DLTYPE"}, {field: "DTYPE"}, {field: "DVADDR"}},
}

// check returns a function that says what is wrong with the content of a packet, "" if nothing is.
// It returns nil if the packet type has no limits.
func (l *layout) check(order byteOrder) func([]byte) string {
	type check struct {
		field
		limit limit
	}
	var checks []check
	for _, limit := range limits[l.typ] {
		if f := l.fields[limit.field]; f.width != 0 {
			checks = append(checks, check{f, limit})
		}
	}
	if len(checks) == 0 {
		return nil
	}
	return func(packet []byte) string {
		for _, c := range checks {
			if v := c.get(packet, order); v < 0 || v > c.limit.max {
				return fmt.Sprintf("a packet of type %d has %s %d", l.typ, c.limit.field, v)
			}
		}
		return ""
	}
}

// byteOrder reads the numbers of one recording. It is not an interface because innermost loops use
// it.
type byteOrder struct{ big bool }

func (o byteOrder) u16(b []byte) uint16 {
	if o.big {
		return binary.BigEndian.Uint16(b)
	}
	return binary.LittleEndian.Uint16(b)
}

func (o byteOrder) u32(b []byte) uint32 {
	if o.big {
		return binary.BigEndian.Uint32(b)
	}
	return binary.LittleEndian.Uint32(b)
}

func (o byteOrder) u64(b []byte) uint64 {
	if o.big {
		return binary.BigEndian.Uint64(b)
	}
	return binary.LittleEndian.Uint64(b)
}

// word reads an address of 4 or 8 bytes. Markers of 4 bytes are sign-extended
// (gprofng-experiment 4.4).
func (o byteOrder) word(b []byte, size int) uint64 {
	if size == 8 {
		return o.u64(b)
	}
	w := o.u32(b)
	if w >= firstMarker32 {
		return uint64(int64(int32(w)))
	}
	return uint64(w)
}

// firstMarker32 is decode.NoAddress in 32 bits.
const firstMarker32 = ^uint32(0) - 4094
