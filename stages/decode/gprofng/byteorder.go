package gprofng

import "encoding/binary"

// byteOrder reads the numbers of one recording. It is not an interface because the
// innermost loops use it.
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
