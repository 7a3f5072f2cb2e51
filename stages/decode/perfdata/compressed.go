package perfdata

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"

	"stackmill/internal/hosterr"
	"stackmill/internal/tempdir"
	"stackmill/schema/diagnostic"
	"stackmill/stages/decode/mmap"
)

// Bounds of what a file may decompress to.
const (
	// maxExpansion is the maximum ratio of decompressed to compressed size. The ratio is about 50
	// for perf's buffers, and a thousand for stack dumps full of zeros.
	maxExpansion = 4096
	// maxWindow is how far back the stream may refer, in bytes: the window of the highest
	// compression level.
	maxWindow = 1 << 27
)

// decompress reads the compressed records of a file, whose payloads together are one stream
// (perf-data 5.3). It writes the decompressed records to a temporary file, so that a recording may
// be larger than memory.
func (r *reader) decompress(name string) {
	var packed int64
	readers := make([]io.Reader, len(r.in.compressed))
	for i, b := range r.in.compressed {
		packed += int64(len(b))
		readers[i] = bytes.NewReader(b)
	}
	r.in.compressed = nil
	d, err := zstd.NewReader(io.MultiReader(readers...), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		r.problemIn(name, diagnostic.Error, diagnostic.NoOffset, "compressed", "%v", err)
		return
	}
	defer d.Close()
	f, err := r.unpack(name, &limitReader{from: d, left: packed * maxExpansion})
	if err != nil {
		r.unreadable(name, "compressed", fmt.Errorf("the compressed records are read only in part: %w", err))
	}
	if f != nil {
		r.in.files = append(r.in.files, f)
		r.readSegment(name+" (decompressed)", f, len(f.Data), 0)
	}
}

// errExpansion reports a stream that decompresses to more than a recording can.
var errExpansion = fmt.Errorf("they decompress to more than %d times their size", maxExpansion)

// limitReader reads a stream and fails beyond a limit.
type limitReader struct {
	from io.Reader
	left int64
}

func (l *limitReader) Read(b []byte) (int, error) {
	if l.left <= 0 {
		if n, err := l.from.Read(b[:min(1, len(b))]); n == 0 {
			return 0, err
		}
		return 0, errExpansion
	}
	n, err := l.from.Read(b[:min(int64(len(b)), l.left)])
	l.left -= int64(n)
	return n, err
}

// unpack decompresses a stream into a mapped file. It keeps the first part of a stream that ends
// early, as in a cut recording. A full disk is an error of the host, not of the recording.
func (r *reader) unpack(name string, from io.Reader) (*mmap.File, error) {
	dir, err := tempdir.Make("perf") // other users cannot open it
	if err != nil {
		return nil, ofTemporary(err)
	}
	defer dir.Remove()
	t, err := os.Create(filepath.Join(dir.Path, "records"))
	if err != nil {
		return nil, ofTemporary(err)
	}
	defer t.Close()
	_, err = io.Copy(hostErrWriter{t}, hosterr.NewReader(r.in.ctx, from))
	if hosterr.Is(err) {
		return nil, err
	}
	f, merr := mmap.Open(r.in.ctx, t.Name(), name)
	if merr != nil {
		return nil, hosterr.New(merr)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) { // perf does not write the end of the last zstd frame
		err = nil
	}
	return f, err
}

// hostErrWriter turns write errors into host errors.
type hostErrWriter struct{ to io.Writer }

func (w hostErrWriter) Write(b []byte) (int, error) {
	n, err := w.to.Write(b)
	return n, ofTemporary(err)
}

// ofTemporary turns an error of the temporary file into a host error. It omits the file's name,
// which means nothing to users.
func ofTemporary(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	if err == nil {
		return nil
	}
	return hosterr.New(fmt.Errorf("decompress it into %s: %w (set $TMPDIR to another folder)", os.TempDir(), err))
}
