package faults

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"stackmill/internal/corpus"
)

// fileFaults are the failing calls that read files, and their errors.
var fileFaults = []struct{ calls, fault string }{
	{"openat", noFiles},
	{"read,pread64", "error=EIO"},
}

// If the machine fails to open or read a file or folder of a recording, a load object or a source,
// every committed experiment equals the one of an undisturbed ingest, and everything missing is
// reported.
func TestEveryFileFails(t *testing.T) {
	tracer := strace(t)
	dir, err := corpus.Dir()
	if err != nil {
		t.Fatal(err)
	}
	perf := t.TempDir()
	if err := corpus.Perf(perf); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		name, recording string
		options         []string
	}{
		{"gprofng", filepath.Join(dir, "exp/recur.er"), nil},
		{"descendants", filepath.Join(dir, "exp/forkexec.er"), nil},
		{"perf", filepath.Join(perf, "perf/p_cxx_dwarf.data"), []string{"--symfs", filepath.Join(perf, "symfs")}},
		{"list of generated code", filepath.Join(perf, "perf/p_jit_map.data"), []string{"--symfs", filepath.Join(perf, "symfs"), "--perf-map-dir", filepath.Join(perf, "perf/maps")}},
	} {
		t.Run(x.name, func(t *testing.T) {
			b := newBench(t)
			t.Parallel()
			b.recordings = []string{x.recording}
			undisturbed := filepath.Join(t.TempDir(), "store")
			log := filepath.Join(t.TempDir(), "trace")
			args := append(b.ingest(undisturbed, x.options...), "--cache", t.TempDir())
			if code, out := b.run(append([]string{tracer, "-f", "-qq", "-e", "trace=openat", "-o", log, b.binary}, args...)...); code != 0 {
				t.Fatalf("exit status %d\n%s", code, out)
			}
			b.want = content(t, undisturbed)
			for _, path := range opened(t, log, dir, perf) {
				b.fileFails(tracer, path, x.options)
			}
		})
	}
}

// opened returns what a traced program opened below the folders.
func opened(t *testing.T, log string, folders ...string) []string {
	t.Helper()
	trace, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, m := range regexp.MustCompile(`openat\(AT_FDCWD, "([^"]+)"`).FindAllStringSubmatch(string(trace), -1) {
		if slices.ContainsFunc(folders, func(f string) bool { return strings.HasPrefix(m[1], f+"/") }) {
			found[m[1]] = true
		}
	}
	if len(found) < 3 {
		t.Fatalf("it opened only %v", slices.Collect(maps.Keys(found)))
	}
	return slices.Sorted(maps.Keys(found))
}

// fileFails lets each call on a file fail, one per run.
func (b *bench) fileFails(tracer, path string, options []string) {
	b.Helper()
	for _, x := range fileFaults {
		for n := 1; n <= mostCalls; n++ {
			store := filepath.Join(b.TempDir(), "store")
			log := filepath.Join(b.TempDir(), "trace")
			command := []string{tracer, "-f", "-qq", "-P", path, "-o", log, "-e", "trace=" + x.calls,
				"-e", fmt.Sprintf("inject=%s:%s:when=%d", x.calls, x.fault, n), b.binary}
			code, out := b.run(append(append(command, b.ingest(store, options...)...), "--cache", b.TempDir())...)
			trace, err := os.ReadFile(log)
			if err != nil {
				b.Fatal(err)
			}
			if !strings.Contains(string(trace), "(INJECTED)") {
				break
			}
			injected.Add(1)
			what := fmt.Sprintf("%s at call %d of %s on %s", x.fault, n, x.calls, path)
			if crashed(out, x.fault) {
				b.Errorf("%s: exit status %d\n%s", what, code, out)
			}
			b.right(what, store)
			if code == 0 && len(content(b.T, store)) != len(b.want) {
				b.Errorf("%s: exit status 0, and the recording is not in the store\n%s", what, out)
			}
			if !*long {
				break
			}
		}
	}
}
