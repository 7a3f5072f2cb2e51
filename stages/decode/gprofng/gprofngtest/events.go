package gprofngtest

import "stackmill/schema"

// Field is a field of a packet.
type Field struct {
	Name   string
	Offset int
	Type   string // INT32, UINT32, INT64, UINT64 or STRING
}

// Layout is the layout of a packet type. Size is the size of a packet without its
// string.
type Layout struct {
	Type   uint16
	Size   int
	Fields []Field
}

func common(fields ...Field) []Field {
	return append([]Field{
		{"LWPID", 8, "INT64"}, {"THRID", 16, "INT64"}, {"CPUID", 24, "INT32"}, {"TSTAMP", 32, "INT64"}, {"FRINFO", 40, "INT64"},
	}, fields...)
}

func i64Fields(offset int, names ...string) []Field {
	var fs []Field
	for i, n := range names {
		fs = append(fs, Field{n, offset + 8*i, "UINT64"})
	}
	return fs
}

// Layouts are the packet layouts that the collector uses for a kind. Layouts[kind][0] is the usual
// one.
var Layouts = [Kinds][]Layout{
	schema.Clock: {
		{8, 56, []Field{
			{"LWPID", 8, "INT64"}, {"THRID", 16, "INT64"}, {"CPUID", 24, "INT32"}, {"TSTAMP", 28, "INT64"}, {"FRINFO", 36, "INT64"},
			{"MSTATE", 44, "INT32"}, {"NTICK", 48, "INT32"},
		}},
		{1, 88, common(Field{"UCPU", 48, "INT32"}, Field{"SCPU", 52, "INT32"}, Field{"TRAP", 56, "INT32"}, Field{"TFLT", 60, "INT32"}, Field{"DFLT", 64, "INT32"},
			Field{"KFLT", 68, "INT32"}, Field{"ULCK", 72, "INT32"}, Field{"TSLP", 76, "INT32"}, Field{"WCPU", 80, "INT32"}, Field{"TSTP", 84, "INT32"})},
	},
	schema.Sync: {{2, 64, common(i64Fields(48, "SRQST", "SOBJ")...)}},
	schema.IO: {{19, 80, common(Field{"IOTYPE", 48, "INT32"}, Field{"IOFD", 52, "INT32"}, Field{"IONBYTE", 56, "INT64"}, Field{"IORQST", 64, "INT64"},
		Field{"IOOFD", 72, "INT32"}, Field{"IOFSTYPE", 76, "INT32"}, Field{"IOFNAME", 80, "STRING"})}},
	schema.HWC: {
		{3, 64, common(Field{"HWCTAG", 48, "INT32"}, Field{"HWCINT", 56, "UINT64"})},
		{7, 112, common(append([]Field{{"HWCTAG", 48, "INT32"}, {"HWCINT", 56, "UINT64"}}, i64Fields(64, "VADDR", "PADDR", "VIRTPC", "PHYSPC", "MEM_LAT", "MEM_SRC")...)...)},
	},
	schema.Heap: {{5, 80, common(append([]Field{{"HTYPE", 48, "INT32"}}, i64Fields(56, "HSIZE", "HVADDR", "HOVADDR")...)...)}},
	schema.OMP: {
		{9, 88, common(i64Fields(48, "CPRID", "PPRID", "TSKID", "PTSKID", "PRPC")...)},
		{12, 56, common(i64Fields(48, "CPRID")...)},
		{14, 56, common(i64Fields(48, "TSKID")...)},
		{15, 72, common(i64Fields(48, "CPRID", "PPRID", "PRPC")...)},
		{16, 64, common(i64Fields(48, "TSKID", "PTSKID")...)},
	},
	schema.Race:     {{10, 88, common(append([]Field{{"RTYPE", 48, "INT32"}}, i64Fields(56, "RID", "LEAFPC", "RVADDR", "RCNT")...)...)}},
	schema.Deadlock: {{13, 72, common(append([]Field{{"DLTYPE", 48, "INT32"}, {"DTYPE", 52, "INT32"}}, i64Fields(56, "DID", "DVADDR")...)...)}},
}

// Packet is the content of one event packet.
type Packet struct {
	Thread int64
	CPU    int32
	Time   int64 // ns from the experiment's start
	Stack  uint64
	Values []int64 // values of the layout's other fields, in order; request times are ns from the experiment's start
	Text   string  // value of the layout's string field
}

// Events writes the event file of one kind.
type Events struct {
	e      *Experiment
	blocks *blocks
}

// Events returns the writer of a kind's event file. It writes each packet immediately, so that
// millions of packets need no memory.
func (e *Experiment) Events(kind schema.Kind) *Events {
	if w := e.events[kind]; w != nil {
		return w
	}
	b, err := e.newBlocks(fileNames[kind])
	e.fail(err)
	e.events[kind] = &Events{e: e, blocks: b}
	return e.events[kind]
}

// PadWithZeros fills up blocks with NULs instead of an empty packet, like an interrupted collector.
func (w *Events) PadWithZeros() { w.blocks.zeros = true }

// Put appends a packet to a buffer. The collector has a buffer for each thread, in which packets
// are usually in order of time.
func (w *Events) Put(buffer int, l *Layout, p Packet) {
	if w.e.err != nil {
		return
	}
	size := l.Size
	if n := len(l.Fields); l.Fields[n-1].Type == "STRING" {
		size = (l.Fields[n-1].Offset + len(p.Text) + 8) &^ 7
	}
	buf, err := w.blocks.append(buffer, size)
	if err != nil {
		w.e.fail(err)
		return
	}
	at := len(buf.data)
	buf.data = append(buf.data, make([]byte, size)...)
	w.fill(buf.data[at:], l, p)
}

// PutRaw appends the bytes of a packet, header included, as they are.
func (w *Events) PutRaw(buffer int, packet []byte) {
	buf, err := w.blocks.append(buffer, len(packet))
	if err != nil {
		w.e.fail(err)
		return
	}
	buf.data = append(buf.data, packet...)
}

func (w *Events) fill(b []byte, l *Layout, p Packet) {
	w.put16(b, uint16(len(b)))
	w.put16(b[2:], l.Type)
	next := 0
	for i := range l.Fields {
		f := &l.Fields[i]
		var v int64
		switch f.Name {
		case "LWPID", "THRID":
			v = p.Thread
		case "CPUID":
			v = int64(p.CPU)
		case "TSTAMP":
			v = p.Time + w.e.Start
		case "FRINFO":
			v = int64(p.Stack)
		default:
			if f.Type == "STRING" {
				copy(b[f.Offset:], p.Text)
				continue
			}
			if next < len(p.Values) {
				v = p.Values[next]
			}
			next++
			if v != 0 && (f.Name == "SRQST" || f.Name == "IORQST") {
				v += w.e.Start
			}
		}
		if f.Type == "INT32" || f.Type == "UINT32" {
			w.put32(b[f.Offset:], uint32(v))
		} else {
			w.put64(b[f.Offset:], uint64(v))
		}
	}
}

func (w *Events) put16(b []byte, v uint16) { w.blocks.order.AppendUint16(b[:0], v) }
func (w *Events) put32(b []byte, v uint32) { w.blocks.order.AppendUint32(b[:0], v) }
func (w *Events) put64(b []byte, v uint64) { w.blocks.order.AppendUint64(b[:0], v) }
