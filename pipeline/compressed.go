package pipeline

import (
	"bytes"
	"compress/bzip2"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"stackmill/internal/hosterr"
	"stackmill/internal/safefile"
	"stackmill/internal/tempdir"
)

// compressedFile is a recording that a user has compressed as a whole, such as `perf.data.xz`.
type compressedFile struct {
	path string
	form *compression
}

// compression is a compressed file format.
type compression struct {
	magic, suffix string
	open          func(io.Reader) (io.Reader, error)
}

var compressions = []compression{
	{"\x1f\x8b", ".gz", func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }},
	{"\xfd7zXZ\x00", ".xz", func(r io.Reader) (io.Reader, error) { return xz.NewReader(r) }},
	{"\x28\xb5\x2f\xfd", ".zst", func(r io.Reader) (io.Reader, error) {
		d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	}},
	{"BZh", ".bz2", func(r io.Reader) (io.Reader, error) { return bzip2.NewReader(r), nil }},
}

// tarMagic is at tarOffset in tar archives.
const (
	tarMagic  = "ustar"
	tarOffset = 257
)

// errArchive tells the user to unpack an archive.
var errArchive = errors.New("it is a tar archive: unpack it (tar -xf) and name the recordings in it (if `perf archive` made it, give the unpacked folder to --debug-dir)")

// compressedRecording returns the compressed file at a path; nil if it is not one or does not
// contain a recording. The error says why something that looks like a recording cannot be read.
func compressedRecording(path string) (*compressedFile, error) {
	f, _, err := safefile.Open(path, safefile.Recording)
	if err != nil {
		return nil, nil // the caller reports it
	}
	defer f.Close()
	magic := make([]byte, 8)
	n, _ := io.ReadFull(f, magic)
	for i := range compressions {
		form := &compressions[i]
		if !bytes.HasPrefix(magic[:n], []byte(form.magic)) {
			continue
		}
		c := &compressedFile{path, form}
		head, err := c.head(f)
		if err != nil || len(head) == 0 {
			return nil, nil // something else, or too damaged to recognize
		}
		return c.judge(head)
	}
	return nil, nil
}

// head returns the first decompressed bytes.
func (c *compressedFile) head(f io.ReadSeeker) ([]byte, error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	r, err := c.form.open(f)
	if err != nil {
		return nil, err
	}
	head, err := io.ReadAll(io.LimitReader(r, headBytes))
	if len(head) > 0 {
		err = nil // reading all of it reports the damage
	}
	return head, err
}

// isArchive reports whether a file is a tar archive, compressed or not.
func isArchive(path string) bool {
	f, _, err := safefile.Open(path, safefile.Recording)
	if err != nil {
		return false
	}
	defer f.Close()
	head, _ := io.ReadAll(io.LimitReader(f, headBytes))
	for i := range compressions {
		if form := &compressions[i]; bytes.HasPrefix(head, []byte(form.magic)) {
			if head, err = (&compressedFile{path, form}).head(f); err != nil {
				return false
			}
			break
		}
	}
	return beginsArchive(head)
}

func beginsArchive(head []byte) bool {
	return len(head) > tarOffset && bytes.HasPrefix(head[tarOffset:], []byte(tarMagic))
}

// judge returns c if its first bytes, decompressed, look like a recording, else nil.
func (c *compressedFile) judge(head []byte) (*compressedFile, error) {
	if beginsArchive(head) {
		name := string(bytes.TrimRight(head[:100], "\x00"))
		if strings.Contains(name, experimentSuffix+"/") || strings.HasPrefix(name, ".build-id/") || strings.Contains(filepath.Base(c.path), "perf") {
			return nil, fmt.Errorf("%w: %w", ErrNoRecording, errArchive)
		}
		return nil, nil
	}
	is, err := looksLikeRecording(c.plainName(), head)
	if !is {
		return nil, err
	}
	return c, nil
}

// looksLikeRecording reports whether a file's name and first bytes are those of a recording,
// damaged or not.
func looksLikeRecording(name string, head []byte) (bool, error) {
	dir, err := tempdir.Make("look")
	if err != nil {
		return false, hosterr.New(err)
	}
	defer dir.Remove()
	file := filepath.Join(dir.Path, name)
	if err := os.WriteFile(file, head, 0o600); err != nil {
		return false, hosterr.New(err)
	}
	if decoderOf(file) != nil || probe(file) != nil {
		return true, nil
	}
	c, err := compressedRecording(file)
	return c != nil || errors.Is(err, ErrNoRecording), nil
}

// plainName implements origin: the base name without the suffix of the compression.
func (c *compressedFile) plainName() string {
	base := filepath.Base(c.path)
	if plain := strings.TrimSuffix(base, c.form.suffix); plain != "" {
		return plain
	}
	return base
}

// A file may decompress to plainAllowance bytes, or to maxRatio times its size if that is more.
const (
	plainAllowance = 1 << 30
	maxRatio       = 200
)

// bring implements origin: it decompresses the file.
func (c *compressedFile) bring(ctx context.Context, to string) error {
	f, info, err := safefile.Open(c.path, safefile.Recording)
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := c.form.open(f)
	if err != nil {
		return fmt.Errorf("decompress %s: %w", filepath.Base(c.path), err)
	}
	out, err := os.Create(to)
	if err != nil {
		return hosterr.New(err)
	}
	most := max(plainAllowance, maxRatio*info.Size())
	n, err := io.Copy(&hostErrorWriter{out}, io.LimitReader(hosterr.NewReader(ctx, r), most+1))
	if err = errors.Join(err, hosterr.New(out.Close())); err != nil {
		return fmt.Errorf("decompress %s: after %d bytes: %w", filepath.Base(c.path), n, err)
	}
	if n > most {
		return fmt.Errorf("decompress %s: its content exceeds %d bytes (if that is intended, decompress it yourself)", filepath.Base(c.path), most)
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}

// hostErrorWriter marks write errors as the machine's, so that they do not count as damage of the
// recording.
type hostErrorWriter struct{ io.Writer }

func (w *hostErrorWriter) Write(b []byte) (int, error) {
	n, err := w.Writer.Write(b)
	return n, hosterr.New(err)
}
