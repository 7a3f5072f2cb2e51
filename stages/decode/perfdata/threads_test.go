package perfdata

import (
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/internal/spill"
	"stackmill/schema"
	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
)

// comm adds a record that names a thread. forkThread adds a record that begins a thread of the same
// process, exit one that ends a thread.
func (b *builder) comm(pid, tid uint32, misc uint16, time int, name string) {
	b.record(recordComm, misc, pid, tid, name, pid, tid, time)
}

func (b *builder) forkThread(pid, tid, parent uint32, time int) {
	b.record(recordFork, 0, pid, pid, tid, parent, time, pid, tid, time)
}

func (b *builder) exit(pid, tid uint32, time int) {
	b.record(recordExit, 0, pid, pid, tid, tid, time, pid, tid, time)
}

func (b *builder) sampleOf(pid, tid uint32, time int) {
	b.record(recordSample, miscUser, 0x10010, pid, tid, time, 2, user, 0x10010)
}

// named lists the name of each sample's thread, and the times during which threads had their names.
func named(t *testing.T, rec *decode.Recording) (samples, lives []string) {
	t.Helper()
	for _, p := range rec.Processes {
		names := map[[2]int64]string{}
		for _, n := range p.ThreadNames {
			names[[2]int64{n.ThreadID, int64(n.Number)}] = n.Name
			life := fmt.Sprintf("%s/%d %s %d", p.Target, n.ThreadID, n.Name, n.FromNS)
			if n.UntilNS != decode.Never {
				life += fmt.Sprint("-", n.UntilNS)
			}
			lives = append(lives, life)
		}
		events := p.Events(schema.Perf)
		for {
			b, err := events.Next()
			if err != nil {
				t.Fatal(err)
			}
			if b == nil {
				break
			}
			e := schema.Events{RecordBatch: b}
			times, threads, numbers := e.Int64s("time_ns"), e.Int64s("thread_id"), e.Int32s("name_no")
			for i, time := range times {
				name, known := names[[2]int64{threads[i], int64(numbers[i])}]
				if !known {
					name = "?"
				}
				samples = append(samples, fmt.Sprintf("%s/%d@%d %s", p.Target, threads[i], time, name))
			}
			b.Release()
		}
		events.Close()
	}
	return samples, lives
}

// A thread has a name from its COMM record on. A new thread inherits the name of its creator. A
// process has the name of the program that it executed last.
func TestThreadNames(t *testing.T) {
	const synthesized = miscExec
	for _, c := range []struct {
		name           string
		flags          uint64
		put            func(b *builder)
		samples, lives []string
	}{
		{"a program that renames itself", 0, func(b *builder) {
			b.comm(10, 10, 0, 0, "perf-exec")
			b.comm(10, 10, miscExec, 1000, "program")
			b.sampleOf(10, 10, 1100)
			b.comm(10, 10, 0, 1200, "first")
			b.sampleOf(10, 10, 1200)
			b.comm(10, 10, 0, 1300, "second")
			b.comm(10, 10, 0, 1400, "first")
			b.sampleOf(10, 10, 1500)
			b.exit(10, 10, 1600)
		}, []string{"program/10@100 program", "program/10@200 first", "program/10@500 first"},
			[]string{"program/10 program 0-200", "program/10 first 200-300", "program/10 first 400-600"}},
		{"threads and processes inherit", 0, func(b *builder) {
			b.comm(10, 10, 0, 0, "sh")
			b.comm(10, 10, 0, 1000, "main")
			b.forkThread(10, 11, 10, 1010)
			b.sampleOf(10, 11, 1020)
			b.comm(10, 11, 0, 1030, "worker")
			b.sampleOf(10, 11, 1040)
			b.record(recordFork, 0, uint32(20), uint32(10), uint32(20), uint32(11), 1050, uint32(10), uint32(11), 1050)
			b.sampleOf(20, 20, 1060)
			b.comm(20, 20, 0, 1070, "child")
			b.sampleOf(20, 20, 1080)
			b.comm(20, 20, miscExec, 1090, "ls")
			b.sampleOf(20, 20, 1100)
		}, []string{"sh/11@20 main", "sh/11@40 worker", "ls/20@60 worker", "ls/20@80 child", "ls/20@100 ls"},
			[]string{"sh/11 main 10-30", "sh/11 worker 30", "ls/20 worker 50-70", "ls/20 child 70-90", "ls/20 ls 90"}},
		{"an id that is used again", 0, func(b *builder) {
			b.comm(10, 10, 0, 0, "main")
			b.forkThread(10, 11, 10, 1000)
			b.comm(10, 11, 0, 1010, "old")
			b.sampleOf(10, 11, 1020)
			b.exit(10, 11, 1030)
			b.sampleOf(10, 11, 1031)
			b.forkThread(10, 11, 10, 1040)
			b.sampleOf(10, 11, 1050)
		}, []string{"main/11@20 old", "main/11@31 old", "main/11@50 main"},
			[]string{"main/11 old 10-30", "main/11 main 40"}},
		{"samples before what perf knows", 0, func(b *builder) {
			b.sampleOf(10, 10, 1000)
			b.comm(10, 10, 0, 1010, "named")
			b.sampleOf(10, 10, 1020)
			b.sampleOf(10, 12, 1030)
		}, []string{"named/10@0 ?", "named/10@20 named", "named/12@30 ?"}, []string{"named/10 named 10"}},
		{"records that perf made up", flagCommExec, func(b *builder) {
			b.comm(1, 1, 0, 0, "init")
			b.record(recordFork, synthesized, uint32(10), uint32(1), uint32(10), uint32(1), 0, uint32(0), uint32(0), 0)
			b.comm(10, 10, 0, 0, "daemon")
			b.record(recordFork, synthesized, uint32(10), uint32(10), uint32(11), uint32(10), 0, uint32(0), uint32(0), 0)
			b.comm(10, 11, 0, 0, "worker")
			b.sampleOf(10, 10, 1000)
			b.sampleOf(10, 11, 1000)
			b.comm(10, 10, 0, 1010, "other")
			b.sampleOf(10, 10, 1020)
		}, []string{"daemon/10@0 daemon", "daemon/11@0 worker", "daemon/10@20 other"},
			[]string{"daemon/10 daemon 0-10", "daemon/10 other 10", "daemon/11 worker 0"}},
		{"out of order", flagCommExec, func(b *builder) {
			b.comm(10, 10, 0, 0, "a")
			b.sampleOf(10, 10, 1040)
			b.sampleOf(10, 10, 1000)
			b.comm(10, 10, 0, 1020, "b")
		}, []string{"a/10@0 a", "a/10@40 b"}, []string{"a/10 a 0-20", "a/10 b 20"}},
		{"no times", 0, func(b *builder) {
			b.comm(10, 10, miscExec, 0, "a")
			b.sampleOf(10, 10, 0)
			b.comm(10, 10, 0, 0, "b")
			b.sampleOf(10, 10, 0)
		}, []string{"a/10@0 a", "a/10@0 b"}, []string{"a/10 a 0", "a/10 b 0"}},
		{"a kernel that does not tell executions", 0, func(b *builder) {
			b.comm(10, 10, 0, 0, "sh")
			b.comm(10, 10, 0, 1000, "ls")
			b.sampleOf(10, 10, 1010)
		}, []string{"ls/10@10 ls"}, []string{"ls/10 ls 0"}},
		{"one that does", flagCommExec, func(b *builder) {
			b.comm(10, 10, 0, 0, "sh")
			b.comm(10, 10, 0, 1000, "ls")
			b.sampleOf(10, 10, 1010)
		}, []string{"sh/10@10 ls"}, []string{"sh/10 ls 0"}},
		{"idle processors", 0, func(b *builder) {
			b.comm(10, 10, 0, 0, "sh")
			b.sampleOf(0, 0, 1000)
			b.sampleOf(10, 10, 1010)
		}, []string{"swapper/0@0 swapper", "sh/10@10 sh"}, []string{"swapper/0 swapper 0", "sh/10 sh 0"}},
		{"bytes that are no text", 0, func(b *builder) {
			b.comm(10, 10, 0, 0, "\xd0;\n")
			b.sampleOf(10, 10, 1000)
		}, []string{"\uFFFD;\n/10@0 \uFFFD;\n"}, []string{"\uFFFD;\n/10 \uFFFD;\n 0"}},
	} {
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			t.Run(c.name, func(t *testing.T) {
				b := &builder{order: order, flags: c.flags}
				c.put(b)
				samples, lives := named(t, open(t, b))
				if d := cmp.Diff(c.samples, samples); d != "" {
					t.Error(d)
				}
				if d := cmp.Diff(c.lives, lives); d != "" {
					t.Error(d)
				}
			})
		}
	}
}

// A thread that changes its name for every sample has all names, even if rows are spilled.
func TestManyNames(t *testing.T) {
	const n = 20000
	b := &builder{order: binary.LittleEndian, flags: flagCommExec}
	b.comm(10, 10, 0, 0, "main")
	for i := range n {
		b.comm(10, 10, 0, 1000+2*i, fmt.Sprint("request ", i))
		b.sampleOf(10, 10, 1001+2*i)
	}
	path := filepath.Join(t.TempDir(), "perf.data")
	if err := os.WriteFile(path, b.file(), 0o666); err != nil {
		t.Fatal(err)
	}
	space := spill.New(1<<12, func() (spill.File, error) { return os.Create(filepath.Join(t.TempDir(), "space")) })
	defer space.Close()
	rec := New().Open(spill.NewContext(t.Context(), space), path)
	defer rec.Close()
	samples, lives := named(t, rec)
	if len(samples) != n || len(lives) != n {
		t.Fatalf("%d samples, %d names", len(samples), len(lives))
	}
	for i, s := range samples {
		if want := fmt.Sprintf("main/10@%d request %d", 1+2*i, i); s != want {
			t.Fatalf("%s, want %s", s, want)
		}
	}
}

// A sample's control group is the path in the first record with the group's identifier, or the
// identifier if no record has it. The kernel's 0 means no group.
func TestCGroups(t *testing.T) {
	b := &builder{order: binary.BigEndian, more: sampleCgroup}
	b.record(recordCGroup, 0, 77, "/app.slice", uint32(0), uint32(0), 0)
	for i, group := range []int{77, 0, 78, 77} {
		b.record(recordSample, miscUser, 0x10010, uint32(10), uint32(10), 1000+i, 2, user, 0x10010, group)
	}
	b.record(recordCGroup, 0, 77, "/other", uint32(0), uint32(0), 2000)
	rec := open(t, b)
	if d := cmp.Diff([]string{"/app.slice", "78"}, rec.CGroups); d != "" {
		t.Error(d)
	}
	if !slices.ContainsFunc(rec.Problems.Problems, func(p diagnostic.Problem) bool { return p.Reason == "unnamed-cgroup" && p.Count == 1 }) {
		t.Error("no problem says that a control group has no path")
	}
	batch, err := rec.Processes[0].Events(schema.Perf).Next()
	if err != nil {
		t.Fatal(err)
	}
	defer batch.Release()
	if d := cmp.Diff([]int32{0, -1, 1, 0}, schema.Events{RecordBatch: batch}.Int32s("cgroup")); d != "" {
		t.Error(d)
	}
}

// The samples of a program that renames its threads, forks and executes itself have the names
// that `perf script -F comm,pid,tid` prints, and the control group of `perf report --sort cgroup`.
// names.c was recorded with `perf record -F 400 -e cpu-clock:u --all-cgroups`.
func TestRecordedNames(t *testing.T) {
	const dir = "testdata/names"
	rec := openPacked(t, filepath.Join(dir, "names.data.gz"))
	counts := map[string]int{}
	samples, _ := named(t, rec)
	for _, s := range samples {
		thread, name, _ := strings.Cut(s[strings.Index(s, "/")+1:], " ")
		thread, _, _ = strings.Cut(thread, "@")
		counts[thread+"\t"+name]++
	}
	want := map[string]int{}
	text, err := os.ReadFile(filepath.Join(dir, "perf-script.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t") // count, process, thread, name
		want[f[2]+"\t"+f[3]], _ = strconv.Atoi(f[0])
	}
	if d := cmp.Diff(want, counts); d != "" {
		t.Error(d)
	}
	var programs []string
	for _, p := range rec.Processes {
		programs = append(programs, p.Target)
	}
	if d := cmp.Diff([]string{"names", "exe"}, programs); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"/"}, rec.CGroups); d != "" {
		t.Error(d)
	}
}

// Processes in several control groups have the numbers of samples in each that
// `perf report --sort cgroup -n` prints.
func TestRecordedCGroups(t *testing.T) {
	rec := openPacked(t, "testdata/cgroups/groups.data.gz")
	got := map[string]int{}
	for _, p := range rec.Processes {
		for source := p.Events(schema.Perf); ; {
			batch, err := source.Next()
			if err != nil {
				t.Fatal(err)
			}
			if batch == nil {
				break
			}
			for _, n := range (schema.Events{RecordBatch: batch}).Int32s("cgroup") {
				got[rec.CGroups[n]]++
			}
			batch.Release()
		}
	}
	if d := cmp.Diff(map[string]int{"/": 5, "/one": 40, "/two": 53}, got); d != "" {
		t.Error(d)
	}
}

// openPacked opens a recording that is compressed by gzip.
func openPacked(t *testing.T, name string) *decode.Recording {
	t.Helper()
	packed, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	z, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return openFile(t, content)
}
