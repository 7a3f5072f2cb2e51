package tracepoint

import (
	"bytes"
	"encoding/hex"
	"strconv"
	"strings"

	"stackmill/internal/bytereader"
)

// Number returns the value of a field that is a single number of up to 8 bytes. It returns false
// for other fields, and if the sample ends before the field does. Signed numbers are sign-extended;
// an unsigned 64-bit number, such as a pointer, keeps its bits.
func (f *Field) Number(raw []byte, big bool) (int64, bool) {
	if !f.IsNumber() || f.Offset+f.Size > len(raw) {
		return 0, false
	}
	return number(raw[f.Offset:f.Offset+f.Size], big, f.Signed), true
}

// IsNumber reports whether the field's values are single numbers, not texts, arrays or bytes.
func (f *Field) IsNumber() bool {
	return f.Location == Fixed && !strings.HasSuffix(f.Type, "]") && (f.Size == 1 || f.Size == 2 || f.Size == 4 || f.Size == 8)
}

func number(b []byte, big, signed bool) int64 {
	r := bytereader.Reader{Rest: b, Big: big}
	v := r.Uint(len(b))
	if shift := 64 - 8*len(b); signed {
		return int64(v<<shift) >> shift
	}
	return int64(v)
}

// AppendText appends the value of a field that is not a single number: text up to the first NUL, or
// the elements of an array in hexadecimal, separated by commas if they have more than one byte. It
// returns false, and appends nothing, if the sample ends before the field does.
func (f *Field) AppendText(to, raw []byte, big bool) ([]byte, bool) {
	b, ok := f.content(raw, big)
	if !ok {
		return to, false
	}
	if f.Text {
		b, _, _ := bytes.Cut(b, []byte{0})
		return append(to, bytes.ToValidUTF8(b, []byte("\uFFFD"))...), true
	}
	size := f.ElementSize
	if size != 2 && size != 4 && size != 8 {
		return hex.AppendEncode(to, b), true
	}
	for i := 0; i+size <= len(b); i += size {
		if i > 0 {
			to = append(to, ',')
		}
		to = strconv.AppendUint(append(to, "0x"...), uint64(number(b[i:i+size], big, false)), 16)
	}
	return to, true
}

// content returns the bytes of a field.
func (f *Field) content(raw []byte, big bool) ([]byte, bool) {
	from, to := f.Offset, f.Offset+f.Size
	if to > len(raw) {
		return nil, false
	}
	if f.Location == Fixed {
		return raw[from:to], true
	}
	at := uint32(number(raw[from:to], big, false))
	start := int(at & 0xffff)
	if f.Location == Relative {
		start += to
	}
	end := start + int(at>>16)
	if end > len(raw) {
		return nil, false
	}
	return raw[start:end], true
}
