package pipeline

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"stackmill/internal/corpus"
)

// squeezed returns content as a compressor writes it.
func squeezed(t *testing.T, content []byte, with func(io.Writer) (io.WriteCloser, error)) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := with(&out)
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.Write(content)
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func gzipped(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil }

// symbolArchive is a short output of `perf archive`: a tar archive with `.build-id/`, compressed by
// bzip2.
const symbolArchive = "QlpoOTFBWSZTWbfwWMoAAIB7kMmQAERAA/+ASQB3JJ5ABAAACCAAkoZIJo0AGgAACKkEwjQ09RoNMjJtTQZZXETlU0oBbWojG+O5nrJh0bHidZmxRIK7TCZsZHydhhUiXMAQxyytfLBX28YLipAspnc2DAEIVKsqmEBsHFC9r2IFlAchoeBm6urTN9ZND+zHYbHBi1NAycWTneiH8XckU4UJC38FjKA="

// A compressed recording is the same experiment as the uncompressed one. Archives are refused with
// an error that says what to do; compressed files without recordings are ignored.
func TestCompressedRecordings(t *testing.T) {
	recordings := t.TempDir()
	if err := corpus.Perf(recordings); err != nil {
		t.Fatal(err)
	}
	plain, err := os.ReadFile(filepath.Join(recordings, "perf", "p_recur_fp.data"))
	if err != nil {
		t.Fatal(err)
	}
	archive, err := base64.StdEncoding.DecodeString(symbolArchive)
	if err != nil {
		t.Fatal(err)
	}
	experiments := squeezed(t, nil, func(w io.Writer) (io.WriteCloser, error) {
		z := gzip.NewWriter(w)
		a := tar.NewWriter(z)
		return z, errors.Join(a.WriteHeader(&tar.Header{Name: "night/a.er/log.xml", Size: 0, Format: tar.FormatUSTAR}), a.Close())
	})
	zip := squeezed(t, plain, gzipped)
	folder := t.TempDir()
	for name, content := range map[string][]byte{
		"a.data": plain, "b.data.gz": zip,
		"c.data.xz":         squeezed(t, plain, func(w io.Writer) (io.WriteCloser, error) { return xz.NewWriter(w) }),
		"d.data.zst":        squeezed(t, plain, func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) }),
		"perf.data.tar.bz2": archive, "experiments.tgz": experiments, "cut.data.gz": zip[:len(zip)-100],
		"notes.txt.gz": squeezed(t, []byte("a text"), gzipped), "nothing.gz": []byte("\x1f\x8b"),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	results, err := Ingest(t.Context(), Options{Store: filepath.Join(t.TempDir(), "store"), Jobs: 1}, folder)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]*Result{}
	for i := range results {
		got[filepath.Base(results[i].Path)] = &results[i]
	}
	if len(got) != 7 {
		t.Errorf("%d recordings are found, want 7", len(got))
	}
	want := got["a.data"]
	for _, name := range []string{"b.data.gz", "c.data.xz", "d.data.zst"} {
		r := got[name]
		if r == nil || r.Err != nil || r.Status != Skipped || r.ID != want.ID || want.Status != Complete {
			t.Errorf("%s: %+v, want the same experiment as %+v", name, r, want)
		}
	}
	for name, message := range map[string]string{"perf.data.tar.bz2": "--debug-dir", "experiments.tgz": "unpack it (tar -xf)", "cut.data.gz": "unexpected EOF"} {
		if r := got[name]; r == nil || r.Err == nil || !strings.Contains(r.Err.Error(), message) {
			t.Errorf("%s: %+v, want an error with %q", name, r, message)
		}
	}
}

// Naming an archive gives an error that says what to do, whatever its name and content.
func TestNamedArchives(t *testing.T) {
	archive := squeezed(t, nil, func(w io.Writer) (io.WriteCloser, error) {
		a := tar.NewWriter(w)
		return a, a.WriteHeader(&tar.Header{Name: "a.data", Size: 0, Format: tar.FormatUSTAR})
	})
	folder := t.TempDir()
	var paths []string
	for name, content := range map[string][]byte{"plain.tar": archive, "packed.tgz": squeezed(t, archive, gzipped)} {
		paths = append(paths, filepath.Join(folder, name))
		if err := os.WriteFile(paths[len(paths)-1], content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, in := range discover(t.Context(), paths, false) {
		if !errors.Is(in.err, errArchive) {
			t.Errorf("%s: %v", in.path, in.err)
		}
	}
	if in := discover(t.Context(), []string{folder}, false); len(in) != 1 || errors.Is(in[0].err, errArchive) {
		t.Errorf("the folder holds %v", in)
	}
}

// A small file that decompresses to very much is refused.
func TestDecompressedSize(t *testing.T) {
	path, to := filepath.Join(t.TempDir(), "zeros.gz"), filepath.Join(t.TempDir(), "zeros")
	content := squeezed(t, make([]byte, 8<<20), gzipped)
	if err := os.WriteFile(path, bytes.Repeat(content, plainAllowance>>23+1), 0o644); err != nil {
		t.Fatal(err)
	}
	err := (&compressedFile{path, &compressions[0]}).bring(t.Context(), to)
	if err == nil || !strings.Contains(err.Error(), "its content exceeds 1073741824 bytes") {
		t.Errorf("got %v", err)
	}
}
