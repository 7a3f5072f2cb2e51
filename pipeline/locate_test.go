package pipeline

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/stages/decode"
)

// Files are looked for where the options say, and only there.
func TestLocate(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{
		"symfs/bin/p", "symfs/run/jit-7.dump", "symfs/boot/vmlinux-6.1-x", "symfs/usr/lib/debug/boot/vmlinux-6.1-x", "symfs/lib/modules/6.1-x/build/vmlinux",
		"symfs/usr/lib/debug/.build-id/aa/bb/elf", "debug/.build-id/aa/bb", "debug/lib/modules/6.1-x/vmlinux", "debug/.build-id/cc/dd/kallsyms",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(root, name) }
	paths := func(o Options, recorded, id string) (list []string) {
		rec := &decode.Recording{OS: "Linux 6.1-x", Locate: func(path string) []decode.Candidate {
			return []decode.Candidate{{Path: path, Origin: "path"}}
		}}
		where := lookupOf(&o)
		files := where.locate(rec)
		for _, c := range append(files.ByPath(recorded), files.ByBuildID(recorded, id)...) {
			list = append(list, c.Origin+" "+strings.TrimPrefix(c.Path, root))
		}
		return list
	}
	debug := []string{at("debug")}
	moved := Options{SymFS: at("symfs"), DebugDirs: debug}
	for _, c := range []struct {
		name         string
		options      Options
		recorded, id string
		want         []string
	}{
		{"path", Options{DebugDirs: debug}, "/bin/p", "", []string{"path /bin/p"}},
		{"path and build-id", Options{DebugDirs: debug}, "/bin/p", "aabb", []string{"path /bin/p", "cache /debug/.build-id/aa/bb"}},
		{"below symfs", moved, "/bin/p", "aabb", []string{"path /symfs/bin/p", "cache /debug/.build-id/aa/bb", "cache /symfs/usr/lib/debug/.build-id/aa/bb/elf"}},
		{"not below symfs", moved, "/bin/q", "", nil},
		{"kernel", moved, decode.KernelPath, "ccdd", []string{"cache /debug/.build-id/cc/dd/kallsyms", "cache /symfs/boot/vmlinux-6.1-x",
			"cache /debug/lib/modules/6.1-x/vmlinux", "cache /symfs/usr/lib/debug/boot/vmlinux-6.1-x", "cache /symfs/lib/modules/6.1-x/build/vmlinux"}},
		{"given kernel", Options{Vmlinux: at("v"), Kallsyms: at("k"), DebugDirs: []string{}}, decode.KernelPath, "", []string{"path /v", "path /k"}},
		{"dump", moved, "/run/jit-7.dump", "", []string{"path /symfs/run/jit-7.dump"}},
		{"dump beside", Options{PerfMaps: at("maps")}, "/run/jit-7.dump", "", []string{"path /maps/jit-7.dump", "path /run/jit-7.dump"}},
		{"map beside", Options{PerfMaps: at("maps")}, "/tmp/perf-7.map", "", []string{"path /maps/perf-7.map"}},
	} {
		got := paths(c.options, c.recorded, c.id)
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}
