package gprofng_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"stackmill/internal/corpus"
	"stackmill/schema"
	"stackmill/schema/diagnostic"
	"stackmill/stages/decode/gprofng/gprofngtest"
)

// block is the size of the blocks by which the collector's files grow.
const block = 1 << 16

// cuts returns the lengths to which the test cuts a file: at and near the ends of blocks, at the
// ends of lines, and at lengths all over the file.
func cuts(b []byte) (at []int) {
	for o := 0; o < len(b); o += block {
		at = append(at, o, o+4, o+16384, o+49152, o+block-4)
	}
	text := bytes.TrimRight(b, "\x00\n")
	for i := range 8 {
		o := len(text) * i / 8
		at = append(at, o, o+bytes.IndexByte(text[o:], '\n')+1)
	}
	slices.Sort(at)
	at = slices.Compact(at)
	return slices.DeleteFunc(at, func(o int) bool { return o >= len(b) })
}

// copyOf copies a recording by hard links, except for one file.
func copyOf(t *testing.T, dir, but string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), filepath.Base(dir))
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		switch {
		case err != nil || rel == but:
			return err
		case entry.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		return os.Link(path, filepath.Join(to, rel))
	})
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// content counts the data found in a recording.
type content struct {
	events, stacks, maps, samples, methods int64
	closed                                 int
}

// contentOf returns the content of a recording, and whether a problem says that it is cut.
func contentOf(t *testing.T, path string) (c content, told bool) {
	t.Helper()
	rec := open(t, path)
	for _, p := range rec.Processes {
		for k := range gprofngtest.Kinds {
			c.events += p.Records(schema.Kind(k))
		}
		for _, s := range p.Stacks.Expanded() {
			if len(s.Words) > 0 {
				c.stacks++
			}
		}
		c.maps += int64(len(p.Mappings))
		c.samples += int64(len(p.Overview))
		c.methods += int64(len(p.JavaMethods))
		if p.Closed {
			c.closed++
		}
	}
	for _, p := range rec.Problems.Problems {
		told = told || p.Severity == diagnostic.Error || p.Reason == "maybe-cut"
	}
	return c, told
}

// If a file was cut, at whatever length, and data is lost, a problem reports it.
func TestCutFiles(t *testing.T) {
	dir, err := corpus.Dir()
	if err != nil {
		t.Fatal(err)
	}
	if err := corpus.Unpack(filepath.Join("..", "..", "..", "testdata", "gprofng", "bounds.tar.gz"), dir); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ recording, file string }{
		{"exp/recur.er", "profile"}, {"exp/recur.er", "data.frameinfo"}, {"exp/recur.er", "log.xml"}, {"exp/recur.er", "map.xml"}, {"exp/recur.er", "overview"},
		{"exp/heap.er", "heaptrace"}, {"exp/io.er", "iotrace"}, {"exp/sync.er", "synctrace"}, {"exp/sync.er", "data.frameinfo"},
		{"exp/threads.er", "profile"}, {"exp/threads.er", "data.frameinfo"}, {"exp/cxx.er", "data.frameinfo"},
		{"exp/omp_gcc.er", "profile"}, {"exp/java.er", "profile"}, {"exp/java.er", "map.xml"},
		{"exp/forkexec.er", "_f2_x1.er/profile"}, {"exp/forkexec.er", "_f1.er/log.xml"}, {"exp/forkexec.er", "_f1.er/map.xml"}, {"exp/forkexec.er", "_f1.er/data.frameinfo"},
		{"bounds/bounds_kill.er", "heaptrace"}, {"bounds/bounds_kill.er", "iotrace"}, {"bounds/bounds_kill.er", "synctrace"}, {"bounds/bounds_kill.er", "data.frameinfo"},
		{"bounds/bounds_kill.er", "log.xml"}, {"bounds/bounds_kill.er", "map.xml"}, {"bounds/bounds_kill.er", "overview"},
	} {
		t.Run(c.recording+"/"+c.file, func(t *testing.T) {
			whole, told := contentOf(t, filepath.Join(dir, c.recording))
			if told {
				t.Fatal("it is damaged")
			}
			b, err := os.ReadFile(filepath.Join(dir, c.recording, c.file))
			if err != nil {
				t.Fatal(err)
			}
			to := copyOf(t, filepath.Join(dir, c.recording), c.file)
			for _, n := range cuts(b) {
				if err := os.WriteFile(filepath.Join(to, c.file), b[:n], 0o644); err != nil {
					t.Fatal(err)
				}
				t.Run(fmt.Sprint(n), func(t *testing.T) {
					if got, told := contentOf(t, to); got != whole && !told {
						t.Errorf("cut to %d of %d bytes it has %+v, of %+v, and says nothing", n, len(b), got, whole)
					}
				})
			}
		})
	}
}
