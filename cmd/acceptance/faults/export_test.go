package faults

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/google/go-cmp/cmp"
)

// exports are exports that write several files. The last argument is the flag that names the
// output.
var exports = []struct {
	name string
	args []string
	// files match those files whose content does not depend on when they are written.
	files []string
	// runs is the number of runs until no files of an earlier state are kept for readers.
	runs int
	// few are the system calls at which the short run kills the export; at some of them, an update.
	few []killedAt
}{
	{"summaries", []string{"export", "--summaries", "-o"}, []string{"*/*.parquet"}, 1,
		[]killedAt{{"mkdir", 2, false}, {"fsync", 2, false}, {"rename", 2, false}, {"rename", 4, false}, {"rename", 2, true}}},
	{"iceberg", []string{"export", "--as", "iceberg", "--keep", "0s", "-o"}, []string{"stackmill/*/data/*"}, 2,
		[]killedAt{{"rename", 1, false}, {"rename", 40, false}}},
	{"ducklake", []string{"export", "--as", "ducklake", "--keep", "0s", "-o"}, []string{"stackmill/*/data/*"}, 2,
		[]killedAt{{"rename", 2, true}}},
}

// killedAt is the n-th system call of a kind, at which an export or an update is killed.
type killedAt struct {
	calls  string
	n      int
	update bool
}

// kills has the system calls of each kind.
var kills = map[string]string{
	"mkdir": "mkdir,mkdirat", "write": "write,pwrite64,pwritev,writev", "fsync": "fsync,fdatasync",
	"rename": "rename,renameat,renameat2", "unlink": "unlink,unlinkat", "open": "openat", "link": "link,linkat",
}

// exported returns the content of a folder's files by pattern, without file names, which depend on
// the number of attempts.
func exported(t *testing.T, folder string, patterns []string) (content []string) {
	t.Helper()
	for _, pattern := range patterns {
		files, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			of, _ := filepath.Rel(folder, filepath.Dir(file))
			content = append(content, fmt.Sprintf("%s %x", of, xxhash.Sum64(text)))
		}
	}
	slices.Sort(content)
	return content
}

// The same command completes an export that was killed at any system call, also an update after the
// store has changed.
func TestExportKilled(t *testing.T) {
	tracer := strace(t)
	b := newBench(t)
	made, err := reference()
	if err != nil {
		t.Fatal(err)
	}
	labeled := filepath.Join(t.TempDir(), "store")
	if err := os.CopyFS(labeled, os.DirFS(made)); err != nil {
		t.Fatal(err)
	}
	if code, out := b.run(b.binary, "label", "stripmain.er", "night=one", "--store", labeled); code != 0 {
		t.Fatalf("%d: %s", code, out)
	}
	for _, x := range exports {
		t.Run(x.name, func(t *testing.T) {
			b := &bench{T: t, binary: b.binary}
			call := func(store, folder string) []string {
				return append(append([]string{b.binary}, x.args...), folder, "--store", store)
			}
			does := func(what, store, folder string) []string {
				t.Helper()
				for range x.runs {
					if code, out := b.run(call(store, folder)...); code != 0 {
						t.Errorf("%s: exit status %d: %s", what, code, out)
					}
				}
				return exported(t, folder, x.files)
			}
			first := filepath.Join(t.TempDir(), "first")
			want := does("undisturbed", made, first)
			second := filepath.Join(t.TempDir(), "second")
			if err := os.CopyFS(second, os.DirFS(first)); err != nil {
				t.Fatal(err)
			}
			wantUpdated := does("updated", labeled, second)
			if len(want) < 3 || slices.Equal(want, wantUpdated) {
				t.Fatalf("%d files, %d after a label was given", len(want), len(wantUpdated))
			}
			kill := func(k killedAt) (done bool) {
				folder, store, want := filepath.Join(t.TempDir(), "folder"), made, want
				if k.update {
					store, want = labeled, wantUpdated
					if err := os.CopyFS(folder, os.DirFS(first)); err != nil {
						t.Fatal(err)
					}
				}
				if done, _, _ = b.inject(tracer, kills[k.calls], killing, k.n, call(store, folder)...); !done {
					return false
				}
				injected.Add(1)
				if d := cmp.Diff(want, does(fmt.Sprint(k), store, folder)); d != "" {
					t.Errorf("%v: %s", k, d)
				}
				for _, pattern := range []string{"*/*.tmp", "*/.*.tmp", "*/*/*/*.tmp"} {
					if left, _ := filepath.Glob(filepath.Join(folder, pattern)); len(left) > 0 {
						t.Errorf("%v: left over: %v", k, left)
					}
				}
				return true
			}
			for _, k := range x.few {
				for !*long && k.n > 0 && !kill(k) { // the distribution of calls over threads differs in each run
					k.n /= 2
				}
			}
			for calls := range kills {
				for _, update := range []bool{false, true} {
					for n := 1; *long && n <= mostCalls && kill(killedAt{calls, n, update}); n++ {
					}
				}
			}
			if code, out := b.run(call(labeled, second)...); code != 0 || strings.Contains(out, " written") && !strings.Contains(out, " 0 written") {
				t.Errorf("once more: %d: %s", code, out)
			}
		})
	}
}

// A plan can be made again if its job files exist, but not the plan itself.
func TestPlanWritingKilled(t *testing.T) {
	tracer := strace(t)
	b := newBench(t)
	killed := 0
	for _, calls := range []string{"link", "rename"} {
		for n := 1; n <= 3; n++ {
			plan := filepath.Join(t.TempDir(), "night.plan")
			command := append([]string{b.binary, "plan", "--store", filepath.Join(t.TempDir(), "store"), "--image", "i", "--claim", "c:/", "-o", plan}, b.recordings...)
			if done, _, _ := b.inject(tracer, kills[calls], killing, n, command...); !done {
				continue
			}
			injected.Add(1)
			killed++
			if code, out := b.run(command...); code != 0 {
				t.Errorf("killed at call %d of %s: exit status %d: %s", n, calls, code, out)
			}
			for _, suffix := range []string{"", ".slurm", ".k8s.yaml"} {
				if info, err := os.Stat(plan + suffix); err != nil || info.Size() == 0 {
					t.Errorf("killed at call %d of %s: %v", n, calls, err)
				}
			}
		}
	}
	if killed < 3 {
		t.Errorf("it was killed %d times", killed)
	}
}
