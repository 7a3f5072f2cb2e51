package perfdata

import (
	"bytes"
	stdcontext "context"
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
	"stackmill/stages/decode/mapped"
)

// Bounds of what a file may decompress to.
const (
	// maxExpansion is how many times larger it may be. perf's buffers shrink by some
	// 50 times; dumps of stacks that are mostly zeros by a thousand.
	maxExpansion = 4096
	// maxWindow is how far back the stream may refer, in bytes: what the highest
	// level of compression asks for.
	maxWindow = 1 << 27
)

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
	d, err := zstd.NewReader(io.MultiReader(readers...), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		r.problemIn(name, diagnostic.Error, diagnostic.NoOffset, "compressed", "%v", err)
		return
	}
	defer d.Close()
	f, err := r.unpack(name, &limited{from: d, left: packed * maxExpansion})
	if err != nil {
		r.unreadable(name, "compressed", fmt.Errorf("the compressed records end early: %w", err))
	}
	if f != nil {
		r.files = append(r.files, f)
		r.piece(name+" (decompressed)", f, len(f.Data), 0)
	}
}

// errExpansion says that a stream is not what perf has compressed.
var errExpansion = fmt.Errorf("they are more than %d times larger than their compressed form", maxExpansion)

// limited reads a stream and fails beyond a limit.
type limited struct {
	from io.Reader
	left int64
}

func (l *limited) Read(b []byte) (int, error) {
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

// unpack maps the decompressed stream. One that ends early, as in a recording that
// was cut, is used up to its end. A lack of room for it is not the recording's fault.
func (r *reader) unpack(name string, from io.Reader) (*mapped.File, error) {
	dir, err := tempdir.Make("perf") // nobody else may open it
	if err != nil {
		return nil, ofTemporary(err)
	}
	defer dir.Remove()
	t, err := os.Create(filepath.Join(dir.Path, "records"))
	if err != nil {
		return nil, ofTemporary(err)
	}
	defer t.Close()
	_, err = io.Copy(faulty{t}, untilEnd{r.ctx, from})
	if hosterr.Is(err) {
		return nil, err
	}
	f, merr := mapped.Open(r.ctx, t.Name(), name)
	if merr != nil {
		return nil, hosterr.New(merr)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) { // perf does not end the last frame
		err = nil
	}
	return f, err
}

// faulty writes, and its errors are faults.
type faulty struct{ to io.Writer }

func (w faulty) Write(b []byte) (int, error) {
	n, err := w.to.Write(b)
	return n, ofTemporary(err)
}

// ofTemporary makes a fault of an error of the temporary file, without its name, which
// means nothing to users.
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

// untilEnd reads until a context ends.
type untilEnd struct {
	ctx  stdcontext.Context
	from io.Reader
}

func (u untilEnd) Read(b []byte) (int, error) {
	if u.ctx.Err() != nil {
		return 0, hosterr.New(stdcontext.Cause(u.ctx))
	}
	return u.from.Read(b)
}
