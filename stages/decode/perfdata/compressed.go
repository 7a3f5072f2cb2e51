package perfdata

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"

	"stackmill/problem"
	"stackmill/stages/decode/mapped"
)

// maxExpansion bounds what a file may decompress to; perf's buffers shrink by
// some 50 times.
const maxExpansion = 4096

// decompress reads the records that a file holds in compressed form: the
// payloads together are one stream (perf-data 5.3). They go to a temporary file,
// so that a recording may be larger than memory.
func (r *reader) decompress(name string) {
	var packed int64
	readers := make([]io.Reader, len(r.compressed))
	for i, b := range r.compressed {
		packed += int64(len(b))
		readers[i] = bytes.NewReader(b)
	}
	r.compressed = nil
	d, err := zstd.NewReader(io.MultiReader(readers...), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	if err != nil {
		r.problemIn(name, problem.Error, problem.NoOffset, "compressed", "%v", err)
		return
	}
	defer d.Close()
	f, err := r.unpack(name, io.LimitReader(d, packed*maxExpansion))
	if err != nil {
		r.problemIn(name, problem.Error, problem.NoOffset, "compressed", "the compressed records end early: %v", err)
	}
	if f != nil {
		r.files = append(r.files, f)
		r.piece(name+" (decompressed)", f.Data, 0)
	}
}

// unpack maps what the stream holds. A stream that ends early, as that of a
// recording that was cut, has what stands before its end.
func (r *reader) unpack(name string, from io.Reader) (*mapped.File, error) {
	t, err := os.CreateTemp("", "stackmill-perf-")
	if err != nil {
		return nil, err
	}
	defer t.Close()
	defer os.Remove(t.Name())
	_, err = io.Copy(t, from)
	f, merr := mapped.Open(r.ctx, t.Name(), name)
	if merr != nil {
		return nil, fmt.Errorf("%w", merr)
	}
	if err == io.ErrUnexpectedEOF { // perf does not end the last frame
		err = nil
	}
	return f, err
}
