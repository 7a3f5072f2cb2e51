package pipeline

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"stackmill/internal/corpus"
	"stackmill/stages/decode/perfdata"
)

// specials replace a file by a special file.
var specials = map[string]func(path string) error{
	"pipe":   func(path string) error { return unix.Mkfifo(path, 0o600) },
	"device": func(path string) error { return os.Symlink("/dev/zero", path) },
	"socket": func(path string) error { return unix.Mknod(path, unix.S_IFSOCK|0o600, 0) },
	"loop":   func(path string) error { return os.Symlink(filepath.Base(path), path) },
}

// A special file in place of any file of a recording, or one that a recording or option names,
// blocks nothing: it counts as damaged.
func TestSpecialFiles(t *testing.T) {
	for name, make := range specials {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			if err := corpus.Perf(root); err != nil {
				t.Fatal(err)
			}
			original := filepath.Join(root, "original.er")
			record(t, original, 10)
			var paths []string
			for _, file := range []string{"log.xml", "map.xml", "data.frameinfo", "profile", "overview", "archives", "dyntext", "jclasses", "warnings.xml", "heaptrace"} {
				dir := filepath.Join(root, file+".er")
				at := filepath.Join(dir, file)
				if err := errors.Join(os.CopyFS(dir, os.DirFS(original)), os.RemoveAll(at), make(at)); err != nil {
					t.Fatal(err)
				}
				paths = append(paths, dir)
			}
			folder := filepath.Join(root, "special")
			at := func(name string) string { return filepath.Join(folder, name) }
			if err := os.MkdirAll(at("dir.data"), 0o755); err != nil {
				t.Fatal(err)
			}
			var errs error
			for _, name := range []string{"kallsyms", "vmlinux", "group.erg", "perf.data", "dir.data/data", "x.er", "jit-7.dump"} {
				errs = errors.Join(errs, make(at(name)))
			}
			generating := filepath.Join(root, "perf", "p_jit_map.data")
			rec := perfdata.New().Open(t.Context(), generating)
			for _, p := range rec.Processes {
				errs = errors.Join(errs, make(at(fmt.Sprintf("perf-%d.map", p.PID))))
			}
			errs = errors.Join(errs, rec.Close())
			if errs != nil {
				t.Fatal(errs)
			}
			paths = append(paths, folder, at("group.erg"), at("x.er"), at("dir.data"), generating, filepath.Join(root, "perf", "p_traps_kernel.data"))
			results, err := Ingest(t.Context(), Options{
				Store: filepath.Join(t.TempDir(), "store"), Jobs: 2, DebugDirs: []string{folder}, Kallsyms: at("kallsyms"), Vmlinux: at("vmlinux"), PerfMaps: folder,
			}, paths...)
			if err != nil || len(results) < len(paths)-2 {
				t.Fatal(len(results), err)
			}
			for _, r := range results {
				if r.Status == Aborted {
					t.Errorf("%s: %s: %v", r.Path, r.Status, r.Err)
				}
			}
			if n := len(results); results[n-1].Status != Complete || results[n-2].Status != Complete {
				t.Errorf("recordings beside: %+v", results[n-2:])
			}
		})
	}
}
