package bytereader

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"
)

func TestNumbers(t *testing.T) {
	b := []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
	for _, x := range []struct {
		order binary.ByteOrder
		want  [4]uint64
	}{
		{binary.LittleEndian, [4]uint64{1, 0x302, 0x7060504, 0xf0e0d0c0b0a0908}},
		{binary.BigEndian, [4]uint64{1, 0x203, 0x4050607, 0x8090a0b0c0d0e0f}},
	} {
		r := New(b, x.order)
		got := [4]uint64{uint64(r.U8()), uint64(r.U16()), uint64(r.U32()), r.U64()}
		if got != x.want || r.Short || len(r.Rest) != 0 {
			t.Errorf("%v: got %#x, want %#x", x.order, got, x.want)
		}
		for size := range 9 {
			r := New(b, x.order)
			var want uint64
			for i := range size {
				want |= uint64(b[i]) << (8 * i)
				if r.Big {
					want = 0
					for _, v := range b[:i+1] {
						want = want<<8 | uint64(v)
					}
				}
			}
			if got := r.Uint(size); got != want || len(b)-len(r.Rest) != size {
				t.Errorf("%v, %d bytes: got %#x, want %#x", x.order, size, got, want)
			}
		}
	}
}

func TestLEB128(t *testing.T) {
	for _, x := range []struct {
		b        []byte
		unsigned uint64
		signed   int64
	}{
		{[]byte{2}, 2, 2},
		{[]byte{0x7e}, 126, -2},
		{[]byte{0xff, 0}, 127, 127},
		{[]byte{0x80, 0x7f}, 127 << 7, -128},
		{[]byte{0x80, 0x80, 0}, 0, 0},
		{append(bytes.Repeat([]byte{0xff}, 9), 0), math.MaxInt64, math.MaxInt64},
		{append(bytes.Repeat([]byte{0xff}, 20), 0x7f), math.MaxUint64, -1}, // more than 64 bits
	} {
		r, s := New(x.b, nil), New(x.b, nil)
		if got, signed := r.ULEB(), s.SLEB(); got != x.unsigned || signed != x.signed || r.Short || s.Short || len(r.Rest)+len(s.Rest) != 0 {
			t.Errorf("%x: got %d and %d, want %d and %d", x.b, got, signed, x.unsigned, x.signed)
		}
	}
}

func TestText(t *testing.T) {
	r := New([]byte("one\x00\x00rest"), nil)
	if one, empty, none := r.Text(), r.Text(), r.Text(); string(one) != "one" || empty == nil || none != nil || !r.Short {
		t.Errorf("got %q, %q, %q, short %t", one, empty, none, r.Short)
	}
}

func TestLengths(t *testing.T) {
	r := New([]byte{3, 0, 0, 0, 2, 7, 8, 0xff, 0xff, 0xff, 0xff, 9, 0, 0, 0, 0, 0, 0, 0}, binary.LittleEndian)
	n, wide := r.Length()
	block := r.Block()
	m, wider := r.Length()
	if n != 3 || wide || !bytes.Equal(block, []byte{7, 8}) || m != 9 || !wider || r.Short {
		t.Errorf("got %d %t, %v, %d %t", n, wide, block, m, wider)
	}
}

func TestAt(t *testing.T) {
	for off, short := range map[uint64]bool{0: false, 3: false, 4: true, math.MaxUint64: true} {
		if r := At([]byte{1, 2, 3}, off, nil); r.Short != short {
			t.Errorf("at %d: short %t", off, r.Short)
		}
	}
	r := New([]byte{1, 2, 3}, nil)
	if sub := r.Sub(2); sub.U16() != 0x201 || sub.Short || r.U8() != 3 {
		t.Errorf("%+v, %+v", sub, r)
	}
	if sub := r.Sub(1); !sub.Short || !r.Short {
		t.Errorf("%+v, %+v", sub, r)
	}
}

// FuzzReader reads values of all kinds in the order that the input selects: no read goes beyond the
// end, and after a short one all return zeros.
func FuzzReader(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, []byte{1, 2, 3, 0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x80, 1, 'a', 0}, true)
	f.Add([]byte{5, 6, 7, 8, 9}, []byte{0x80}, false)
	f.Fuzz(func(t *testing.T, kinds, b []byte, big bool) {
		r := Reader{Rest: b, Big: big}
		for _, k := range kinds {
			was, short := len(r.Rest), r.Short
			var got uint64
			switch k % 10 {
			case 0:
				got = uint64(r.U8())
			case 1:
				got = uint64(r.U16())
			case 2:
				got = uint64(r.U32())
			case 3:
				got = r.U64()
			case 4:
				got = r.Uint(int(k >> 4 & 7))
			case 5:
				got = r.ULEB()
			case 6:
				got = uint64(r.SLEB())
			case 7:
				got = uint64(len(r.Text()))
			case 8:
				got = uint64(len(r.Block()))
			case 9:
				got, _ = r.Length()
			}
			if len(r.Rest) > was || short && (got != 0 || !r.Short) {
				t.Fatalf("kind %d: %d from %d bytes, %d left, short %t", k%10, got, was, len(r.Rest), r.Short)
			}
		}
	})
}
