package main

import (
	"encoding/binary"
	"slices"
)

var le = binary.LittleEndian

// Event files consist of blocks. Packets fill a block and do not cross its end; the last one is of
// type CLOSED if the thread continues in another block, otherwise EMPTY.
const (
	block      = 65536
	emptyType  = 0
	closedType = 65535
)

// span is the position of a part of a file, such as a packet or a record, and its type.
type span struct{ off, size, typ int }

// packets returns the packets of an event file.
func packets(data []byte) (list []span) {
	for o := 0; o+4 <= len(data); {
		size, typ := int(le.Uint16(data[o:])), int(le.Uint16(data[o+2:]))
		if size < 4 || o+size > len(data) {
			o += block - o%block
			continue
		}
		list = append(list, span{o, size, typ})
		o += size
	}
	return list
}

// fields has the offset and size of the values in packets, by packet type (gprofng-experiment 3.4).
var fields = map[int]map[string][2]int{
	8:  {"LWPID": {8, 8}, "THRID": {16, 8}, "CPUID": {24, 4}, "TSTAMP": {28, 8}, "FRINFO": {36, 8}, "MSTATE": {44, 4}, "NTICK": {48, 4}},
	5:  {"LWPID": {8, 8}, "THRID": {16, 8}, "CPUID": {24, 4}, "TSTAMP": {32, 8}, "FRINFO": {40, 8}, "HTYPE": {48, 4}, "HSIZE": {56, 8}, "HVADDR": {64, 8}, "HOVADDR": {72, 8}},
	19: {"LWPID": {8, 8}, "THRID": {16, 8}, "CPUID": {24, 4}, "TSTAMP": {32, 8}, "FRINFO": {40, 8}, "IOTYPE": {48, 4}, "IOFD": {52, 4}, "IONBYTE": {56, 8}, "IORQST": {64, 8}, "IOOFD": {72, 4}, "IOFSTYPE": {76, 4}},
	2:  {"LWPID": {8, 8}, "THRID": {16, 8}, "CPUID": {24, 4}, "TSTAMP": {32, 8}, "FRINFO": {40, 8}, "SRQST": {48, 8}, "SOBJ": {56, 8}},
	11: {"hsize": {4, 4}, "uid": {8, 8}, "info_size": {16, 4}, "kind": {20, 4}, "fragment": {24, 8}, "word": {32, 8}},
	17: {"flags": {4, 4}, "uid": {8, 8}, "word": {16, 8}},
}

var packetFiles = []string{"recording.er/profile", "recording.er/heaptrace", "recording.er/iotrace", "recording.er/synctrace", "recording.er/data.frameinfo",
	"recording.er/_*/profile", "recording.er/_*/data.frameinfo"}

// packetMutations damage event files and lists of stacks.
var packetMutations = []mutation{
	{"packet-dropped", onPacket(dropPacket)},
	{"packet-emptied", onPacket(emptyPacket)},
	{"packet-overwritten", onPacket(overwritePacket)},
	{"packet-swapped", onPacket(swapPackets)},
	{"packet-type", onPacket(packetType)},
	{"packet-size", onPacket(packetSize)},
	{"packet-field", onPacket(packetField)},
	{"packet-bits", onPacket(packetBits)},
	{"packet-zeroed", onPacket(zeroPackets)},
	{"packet-cut", onPacket(cutPackets)},
	{"block-cut", onPacket(cutBlocks)},
	{"block-overwritten", onPacket(overwriteBlock)},
	{"block-dropped", onPacket(dropBlock)},
	{"block-zeroed", onPacket(zeroBlock)},
}

// packetFile is an event file that is being damaged, and the packet chosen for that.
type packetFile struct {
	name   string
	data   []byte
	list   []span
	at     int // index of the chosen packet in list
	stacks bool
}

func onPacket(do func(*damage, *packetFile) bool) func(*damage) bool {
	return func(d *damage) bool {
		name, data := d.read(packetFiles...)
		f := &packetFile{name: name, data: data, list: packets(data)}
		if len(f.list) < 3 {
			return false
		}
		for range 100 { // choose mostly packets with data
			f.at = d.IntN(len(f.list))
			if !f.packet().filler() || d.IntN(20) == 0 {
				break
			}
		}
		f.stacks = f.list[f.at].typ == 11 || f.list[f.at].typ == 17
		if !do(d, f) {
			return false
		}
		d.write(name, f.data)
		return true
	}
}

func (f *packetFile) packet() span { return f.list[f.at] }

// filler reports whether a packet has no data: it fills the rest of its block.
func (s span) filler() bool { return s.typ == emptyType || s.typ == closedType }

// kind returns `of` as the key in truths, but "" for stacks: packets refer to stacks, so stackmill
// must report a missing or duplicate one.
func (f *packetFile) kind(of string) string {
	if f.stacks {
		return ""
	}
	return of
}

func (f *packetFile) bytes(s span) []byte { return f.data[s.off : s.off+s.size] }

func (f *packetFile) endOfBlock(off int) int { return min(off-off%block+block, len(f.data)) }

// dropPacket removes a packet. The rest of the block moves up and the filler grows, as if the
// packet had never been written.
func dropPacket(d *damage, f *packetFile) bool {
	p := f.packet()
	var last span
	for _, o := range f.list {
		if o.off/block == p.off/block {
			last = o
		}
	}
	if p.filler() || !last.filler() || last.size+p.size > 0xffff {
		return false
	}
	rest := slices.Clone(f.data[p.off+p.size : last.off+last.size])
	copy(f.data[p.off:], rest)
	clear(f.data[p.off+len(rest) : last.off+last.size])
	le.PutUint16(f.data[last.off-p.size:], uint16(last.size+p.size))
	return d.did(f.kind("record dropped"), 1, "%s: packet %d, type %d, at %d is taken out", f.name, f.at, p.typ, p.off)
}

func emptyPacket(d *damage, f *packetFile) bool {
	p := f.packet()
	le.PutUint16(f.data[p.off+2:], 0)
	return d.did(f.kind("record emptied"), 1, "%s: packet %d at %d has type 0", f.name, f.at, p.off)
}

func overwritePacket(d *damage, f *packetFile) bool {
	p := f.packet()
	for _, o := range f.list {
		if o.size == p.size && o.off != p.off && d.IntN(4) == 0 {
			copy(f.bytes(p), f.bytes(o))
			return d.did(f.kind("record overwritten"), 1, "%s: the packet at %d is a copy of that at %d", f.name, p.off, o.off)
		}
	}
	return false
}

// swapPackets swaps two packets. The result must be the same, because packets are sorted by time.
func swapPackets(d *damage, f *packetFile) bool {
	p := f.packet()
	for _, o := range f.list {
		if o.size == p.size && o.off != p.off && d.IntN(4) == 0 {
			a, b := slices.Clone(f.bytes(p)), slices.Clone(f.bytes(o))
			copy(f.bytes(p), b)
			copy(f.bytes(o), a)
			return d.did("", 0, "%s: the packets at %d and %d are swapped", f.name, p.off, o.off)
		}
	}
	return false
}

func packetType(d *damage, f *packetFile) bool {
	p := f.packet()
	typ := pick(d, []uint16{1, 2, 3, 4, 6, 7, 9, 12, 13, 18, 20, 77, 0x108, 0x80 + 8, 0xfffe, 0xffff})
	if int(typ) == p.typ {
		return false
	}
	le.PutUint16(f.data[p.off+2:], typ)
	return d.did("", 0, "%s: packet %d at %d has type %d instead of %d", f.name, f.at, p.off, typ, p.typ)
}

func packetSize(d *damage, f *packetFile) bool {
	p := f.packet()
	size := pick(d, []int{0, 1, 2, 3, 4, 8, p.size - 4, p.size - 1, p.size + 1, p.size + 4, p.size + 8, 2 * p.size, 0x7fff, 0xffff, block})
	if size == p.size || size < 0 {
		return false
	}
	le.PutUint16(f.data[p.off:], uint16(size))
	return d.did("", 0, "%s: packet %d at %d has size %d instead of %d", f.name, f.at, p.off, size, p.size)
}

func packetField(d *damage, f *packetFile) bool {
	p := f.packet()
	var names []string
	for name := range fields[p.typ] {
		names = append(names, name)
	}
	if len(names) == 0 {
		return false
	}
	slices.Sort(names)
	name := pick(d, names)
	at, v := fields[p.typ][name], d.absurd()
	if at[0]+at[1] > p.size {
		return false
	}
	if at[1] == 4 {
		le.PutUint32(f.data[p.off+at[0]:], uint32(v))
	} else {
		le.PutUint64(f.data[p.off+at[0]:], v)
	}
	kind := f.kind("record's value")
	switch {
	case f.stacks && name == "word":
		kind = "words of a stack"
	case name == "TSTAMP":
		kind = "record's time"
	}
	return d.did(kind, 1, "%s: %s of packet %d at %d is %#x", f.name, name, f.at, p.off, v)
}

func packetBits(d *damage, f *packetFile) bool {
	p := f.packet()
	at, bit := d.IntN(p.size), d.IntN(8)
	f.data[p.off+at] ^= 1 << bit
	kind := ""
	switch words := map[int]int{11: 32, 17: 16}[p.typ]; {
	case f.stacks && at >= words:
		kind = "words of a stack"
	case !f.stacks && at >= 8: // not in size, type or unused bytes
		kind = "record's value"
	}
	return d.did(kind, 1, "%s: bit %d of byte %d of packet %d at %d is flipped", f.name, bit, at, f.at, p.off)
}

// zeroPackets overwrites a part of a packet, or parts of several, with NULs.
func zeroPackets(d *damage, f *packetFile) bool {
	p := f.packet()
	from := min(p.off+d.IntN(p.size), f.endOfBlock(p.off)-1)
	to := min(from+1+d.IntN(pick(d, []int{8, 60, 1000, block})), f.endOfBlock(p.off))
	clear(f.data[from:to])
	return d.zeroed(f, from, to)
}

// zeroed notes the damage. NULs within a packet are values; NULs in a header make a size of 0,
// which stackmill must report.
func (d *damage) zeroed(f *packetFile, from, to int) bool {
	touched, headers := 0, false
	for _, p := range f.list {
		if p.off < to && p.off+p.size > from {
			touched++
			headers = headers || p.off+4 > from
		}
	}
	kind := ""
	switch {
	case !headers && f.stacks:
		kind = "words of a stack"
	case !headers:
		kind = "record's value"
	}
	return d.did(kind, touched, "%s: bytes %d to %d, of %d packets, are 0", f.name, from, to, touched)
}

// cutPackets truncates the file at or in a packet.
func cutPackets(d *damage, f *packetFile) bool {
	p := f.packet()
	at := p.off
	if d.IntN(3) > 0 {
		at += d.IntN(p.size)
	}
	f.data = f.data[:at]
	return d.did("", 0, "%s is cut at %d, at or in packet %d of %d", f.name, at, f.at, len(f.list))
}

func (f *packetFile) blocks() int { return (f.list[len(f.list)-1].off + block) / block }

// cutBlocks truncates the file after a block.
func cutBlocks(d *damage, f *packetFile) bool {
	if f.blocks() < 2 {
		return false
	}
	at := (1 + d.IntN(f.blocks()-1)) * block
	f.data = f.data[:at]
	return d.did("", 0, "%s is cut at %d, the end of a block", f.name, at)
}

func (f *packetFile) inBlock(k int) (n int) {
	for _, p := range f.list {
		if p.off/block == k {
			n++
		}
	}
	return n
}

func overwriteBlock(d *damage, f *packetFile) bool {
	if f.blocks() < 2 {
		return false
	}
	a, b := d.IntN(f.blocks()), d.IntN(f.blocks())
	if a == b || (b+1)*block > len(f.data) {
		return false
	}
	n := max(f.inBlock(a), f.inBlock(b))
	copy(f.data[a*block:], f.data[b*block:(b+1)*block])
	return d.did(f.kind("block overwritten"), n, "%s: block %d is a copy of block %d", f.name, a, b)
}

// dropBlock removes a block. If the file then ends with a CLOSED packet, stackmill must notice that
// a block is missing.
func dropBlock(d *damage, f *packetFile) bool {
	if f.blocks() < 2 {
		return false
	}
	k := d.IntN(f.blocks())
	kind, end := f.kind("block dropped"), span{}
	for _, p := range f.list {
		if p.off/block != k {
			end = p
		}
	}
	if end.typ == closedType {
		kind = ""
	}
	n := f.inBlock(k)
	f.data = slices.Delete(f.data, k*block, min((k+1)*block, len(f.data)))
	return d.did(kind, n, "%s: block %d is taken out", f.name, k)
}

func zeroBlock(d *damage, f *packetFile) bool {
	k := d.IntN(f.blocks())
	from, to := k*block, min((k+1)*block, len(f.data))
	clear(f.data[from:to])
	return d.zeroed(f, from, to)
}
