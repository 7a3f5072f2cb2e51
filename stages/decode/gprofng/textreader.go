package gprofng

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"sort"
	"sync"
)

// maxXML is the maximum size of a log's text without NULs. A log of several weeks has a few MB.
const maxXML = 256 << 20

var errLongText = errors.New("its text is longer than the limit for logs (256 MB): the rest is not read")

// textReader reads a text piece by piece, and omits its NULs (gprofng-experiment 1.6).
type textReader struct {
	file  io.Reader
	data  []byte // the current piece of the text, without NULs
	start int64  // file offset of data
	holes []hole
	size  int64 // bytes of text read so far
	nuls  int64 // number of NULs after the data
	ended bool
	err   error

	padded bool // the text ends in padding: NULs, perhaps with a newline
	last   byte // last byte of the text
}

// textChunks recycles read buffers: an experiment has several short text files.
var textChunks = sync.Pool{New: func() any { return new([1 << 16]byte) }}

// maxHoles is the maximum number of holes that are kept. In a text with more holes, offsets become
// inexact.
const maxHoles = 1 << 16

// hole is a position in the data where NULs were omitted. To get the file offset of later data, add
// skip.
type hole struct {
	at   int
	skip int64
}

// offset converts a position in the data to a file offset. For the end of the data, it returns the
// end of the text, before the padding.
func (t *textReader) offset(pos int) int64 {
	i := sort.Search(len(t.holes), func(i int) bool { return t.holes[i].at > pos })
	if i == 0 {
		return t.start + int64(pos)
	}
	return t.start + int64(pos) + t.holes[i-1].skip
}

// more drops the first n bytes of the data, reads until the data has size bytes or the file ends,
// and returns the data.
func (t *textReader) more(n, size int) []byte {
	start := t.offset(n)
	i := sort.Search(len(t.holes), func(i int) bool { return t.holes[i].at > n })
	for j := range t.holes {
		t.holes[j].at -= n
		t.holes[j].skip -= start - t.start - int64(n)
	}
	t.holes, t.data, t.start = slices.Delete(t.holes, 0, i), slices.Delete(t.data, 0, n), start
	for len(t.data) < size && !t.ended {
		t.read()
	}
	return t.data
}

func (t *textReader) read() {
	chunk := textChunks.Get().(*[1 << 16]byte)
	defer textChunks.Put(chunk)
	n, err := t.file.Read(chunk[:])
	for b := chunk[:n]; len(b) > 0; {
		b = t.take(b)
	}
	if t.size > maxXML {
		err = errLongText
	}
	if err != nil {
		t.ended = true
		if err != io.EOF {
			t.err = err
		}
	}
}

// take consumes the NULs at the start of b or, if there are none, the text up to the next NUL. It
// returns the rest of b.
func (t *textReader) take(b []byte) []byte {
	n := bytes.IndexByte(b, 0)
	if n == 0 {
		n = leadingZeros(b)
		t.nuls += int64(n)
		t.padded = true
		return b[n:]
	}
	if n < 0 {
		n = len(b)
	}
	if t.nuls > 0 {
		t.skip()
	}
	// A newline after NULs is padding: the collector reserves a block by writing a newline at its
	// end.
	t.padded = t.nuls > 0 && n == 1 && b[0] == '\n'
	t.nuls, t.last = 0, b[n-1]
	t.data = append(t.data, b[:n]...)
	t.size += int64(n)
	return b[n:]
}

// skip notes that NULs were omitted at the end of the data.
func (t *textReader) skip() {
	h := hole{len(t.data), t.nuls}
	if n := len(t.holes); n > 0 {
		h.skip += t.holes[n-1].skip
		if n == maxHoles {
			t.holes[n-1] = h
			return
		}
	}
	t.holes = append(t.holes, h)
}

// cut reports whether a file of that size lacks its padding, with which the collector fills the
// last block.
func (t *textReader) cut(size, block int64) bool {
	return t.err == nil && !t.padded && (size%block != 0 || t.last != '\n')
}
