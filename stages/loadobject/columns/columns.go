// Package columns encodes load objects' tables in files: first a list of strings (their number,
// their lengths, their bytes; the first string is empty), then columns of unsigned varints, some of
// which are indexes of strings. Signed numbers are zigzag-encoded.
package columns

import (
	"encoding/binary"
	"math"
	"unsafe"
)

// Writer writes columns.
type Writer struct {
	b     []byte
	texts *TextWriter
}

// NewWriter returns a writer without columns.
func NewWriter() *Writer { return &Writer{texts: NewTextWriter()} }

// Uint writes a number.
func (w *Writer) Uint(v uint64) { w.b = binary.AppendUvarint(w.b, v) }

// Int writes a signed number.
func (w *Writer) Int(v int64) { w.b = binary.AppendVarint(w.b, v) }

// Count writes a length.
func (w *Writer) Count(n int) { w.Uint(uint64(n)) }

// Bool writes a boolean.
func (w *Writer) Bool(v bool) {
	n := uint64(0)
	if v {
		n = 1
	}
	w.Uint(n)
}

// Text writes a string.
func (w *Writer) Text(s string) { w.Uint(uint64(w.texts.Intern(s))) }

// Texts writes a list of strings with its length.
func (w *Writer) Texts(list []string) {
	w.Count(len(list))
	for _, s := range list {
		w.Text(s)
	}
}

// Bytes writes uninterpreted bytes with their length.
func (w *Writer) Bytes(b []byte) {
	w.Count(len(b))
	w.b = append(w.b, b...)
}

// Append appends the strings and the columns to b. It appends nothing if the strings are too long to
// be read back.
func (w *Writer) Append(b []byte) []byte {
	if w.texts.Full {
		return b
	}
	ends := w.texts.starts[1:]
	b = binary.AppendUvarint(b, uint64(len(ends)))
	for n, end := range ends {
		b = binary.AppendUvarint(b, uint64(end-w.texts.starts[n]))
	}
	return append(append(b, w.texts.all...), w.b...)
}

// Reader reads columns. After an invalid number it returns only zeros, and Whole returns false.
type Reader struct {
	b     []byte
	at    int // position of the next number
	texts Texts
	bad   bool
}

// NewReader returns a reader of bytes that Append wrote. Its strings share these bytes, which must
// not be changed.
func NewReader(b []byte) *Reader {
	r := &Reader{b: b}
	r.readStrings()
	return r
}

// NewNumbers returns a reader of columns without strings.
func NewNumbers(b []byte) *Reader { return &Reader{b: b} }

func (r *Reader) readStrings() {
	starts := make([]uint32, r.Count()+1)
	sum := 0
	for i := range starts[1:] {
		if sum += int(r.Below(math.MaxInt32)); sum > min(len(r.b), math.MaxUint32) {
			r.Fail()
			return
		}
		starts[i+1] = uint32(sum)
	}
	if sum > len(r.b)-r.at {
		r.Fail()
		return
	}
	r.texts = Texts{unsafe.String(unsafe.SliceData(r.b[r.at:]), sum), starts}
	r.at += sum
}

// Fail makes the reader return only zeros from now on, as after an invalid number.
func (r *Reader) Fail() { r.b, r.at, r.bad = nil, 0, true }

// Whole reports whether all bytes were read and no number was invalid.
func (r *Reader) Whole() bool { return !r.bad && r.at == len(r.b) }

// Uint reads a number.
func (r *Reader) Uint() uint64 {
	if r.at < len(r.b) && r.b[r.at] < 0x80 { // most numbers have one byte
		r.at++
		return uint64(r.b[r.at-1])
	}
	return r.long()
}

// long reads a number of any length.
func (r *Reader) long() uint64 {
	v, n := binary.Uvarint(r.b[r.at:])
	if n <= 0 {
		r.Fail()
		return 0
	}
	r.at += n
	return v
}

// Int reads a signed number.
func (r *Reader) Int() int64 {
	v := r.Uint()
	return int64(v>>1) ^ -int64(v&1)
}

// Count reads the length of a list. It rejects a length greater than the number of remaining bytes,
// since each element takes at least one.
func (r *Reader) Count() int {
	n := r.Uint()
	if n > uint64(len(r.b)-r.at) {
		r.Fail()
		return 0
	}
	return int(n)
}

// Below reads a number less than n.
func (r *Reader) Below(n int) int32 {
	v := r.Uint()
	if v >= uint64(n) {
		r.Fail()
		return 0
	}
	return int32(v)
}

// Bytes reads what Writer.Bytes wrote. The result must not be changed.
func (r *Reader) Bytes() []byte {
	n := r.Count()
	r.at += n
	return r.b[r.at-n : r.at : r.at]
}

// Bool reads a boolean.
func (r *Reader) Bool() bool { return r.Below(2) == 1 }

// Text reads a string.
func (r *Reader) Text() string {
	if n := r.TextNumber(); !r.bad {
		return r.texts.At(n)
	}
	return ""
}

// TextNumber reads the number of a string in AllTexts.
func (r *Reader) TextNumber() int32 { return r.Below(r.texts.Len()) }

// AllTexts returns the strings of all columns.
func (r *Reader) AllTexts() Texts { return r.texts }

// Texts reads a list of strings.
func (r *Reader) Texts() []string {
	list := Slice[string](r.Count())
	for i := range list {
		list[i] = r.Text()
	}
	return list
}

// Slice returns a slice of length n, nil for 0. So a decoded table equals the one that was encoded.
func Slice[T any](n int) []T {
	if n == 0 {
		return nil
	}
	return make([]T, n)
}
