package gprofng_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"stackmill/schema"
	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
	"stackmill/stages/decode/gprofng"
	"stackmill/stages/decode/gprofng/gprofngtest"
)

func write(t *testing.T, path, content string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDetect(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/a.er/log.xml", "")
	write(t, dir+"/empty.er/x", "")
	write(t, dir+"/file.er", "")
	write(t, dir+"/group.erg", "#analyzer experiment group\na.er\n")
	write(t, dir+"/other.txt", "text")
	write(t, dir+"/folder/log.xml", "")
	write(t, dir+"/.er/log.xml", "")
	d := gprofng.New()
	for name, want := range map[string]bool{
		"a.er": true, "a.er/": true, "empty.er": true, "file.er": true, "group.erg": true,
		"other.txt": false, "folder": false, ".er": false, "missing.er": false,
	} {
		if got := d.Detect(dir + "/" + name); got != want {
			t.Errorf("Detect(%s) = %v", name, got)
		}
	}
}

func TestMembers(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/b.er/log.xml", "")
	group := write(t, dir+"/g.erg", "#analyzer experiment group, 2 of them\n# comment\n\n.//b.er  and more\n/nowhere//c.er\nmissing.er")
	got, err := gprofng.New().Members(group)
	want := []string{dir + "/b.er", "/nowhere/c.er", "missing.er"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("Members = %v, %v, want %v", got, err, want)
	}
	t.Chdir(dir)
	if got, _ := gprofng.New().Members("g.erg"); got[0] != "b.er" {
		t.Errorf("a path relative to the current directory became %s", got[0])
	}
	if got, _ := gprofng.New().Members(dir + "/b.er"); !slices.Equal(got, []string{dir + "/b.er"}) {
		t.Errorf("Members of an experiment = %v", got)
	}
}

func TestFiles(t *testing.T) {
	e := newExperiment(t)
	e.Archive("/bin/program", []byte("elf"))
	e.WriteFile("archive.log", nil)
	e.Descendant("_f1", 10)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", e.Dir+"/archives/dangling"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../map.xml", e.Dir+"/archives/linked"); err != nil {
		t.Fatal(err)
	}
	got, err := gprofng.New().Files(e.Dir)
	want := []string{"_f1.er/data.frameinfo", "_f1.er/log.xml", "_f1.er/map.xml", "archives/linked", "archives/program_1ZHvtdjr7ec",
		"data.frameinfo", "log.xml", "map.xml"}
	for i, f := range got {
		if strings.HasPrefix(f, "archives/program_") {
			want[i] = f
		}
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("Files = %v, %v", got, err)
	}
}

func TestLocate(t *testing.T) {
	e := newExperiment(t)
	object := write(t, t.TempDir()+"/lib.so", "elf")
	e.Archive(object, []byte("copy"))
	e.Descendant("_f1", 10)
	rec := build(t, e)
	for _, c := range []struct {
		rec    *decode.Recording
		object string
		want   []string
	}{
		{rec, object, []string{"archive", "path"}},
		{open(t, e.Dir+"/_f1.er"), object, []string{"archive", "path"}},
		{rec, e.Dir + "/log.xml", []string{"path"}},
		{rec, "/nowhere/lib.so", nil},
		{rec, "[vdso]", nil},
		{rec, "<DYNAMIC_FUNCTIONS>", nil},
	} {
		var got []string
		for _, f := range c.rec.Locate(c.object) {
			got = append(got, f.Origin)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("Locate(%s) = %v, want %v", c.object, got, c.want)
		}
	}
}

// Everything that the log says about the machine and the process.
func TestLog(t *testing.T) {
	e := newExperiment(t)
	e.Version, e.Host = "14.9", "h"
	e.Command = "/opt/bin/prog -a 'b' <in"
	e.Declare(schema.Clock, `ptimer="997" numstates="1"`)
	e.Declare(schema.Heap, "")
	e.Counter(0, "cycles", 1000003, "")
	e.Counter(1, "mem_loads", 10007, `memop="5"`)
	e.Sample(0, 0, "first")
	e.Log(`<!-- a comment <event> --><event kind="comment" id="1">text</event>`)
	e.Log(`<event kind="cwarn" id="207">997 -&gt; 0</event>`)
	e.Log(`<event kind="cerror" id="12">lost &#35;1</event>`)
	e.Log(`<novelty a="1"><inner/></novelty>`)
	e.Log(`<event kind="surprise" tstamp="0.1"/>`)
	rec := build(t, e)
	if d := cmp.Diff(&decode.Recording{
		Format: "gprofng", Version: "14.9", Collector: "2.40.00", Host: "h", OS: "Linux 6.1", Arch: "x86_64",
		CPUs: 2, ClockMHz: 2600, PageSize: 4096, WordBits: 64, Started: time.Unix(1_700_000_000, 0).UTC(), Began: time.Unix(1_700_000_000, 999_999_999).UTC(),
	}, rec, cmpopts.IgnoreFields(decode.Recording{}, "Processes", "Problems", "HostErr", "Locate", "Close", "FileTime")); d != "" {
		t.Error(d)
	}
	p := rec.Processes[0]
	if p.PID != 1000 || p.PPID != 999 || p.Target != "prog" || p.Command != e.Command || p.Directory != "/" || !p.Closed || p.DurationNS != 1_000_000_000 {
		t.Errorf("%+v", p)
	}
	if d := cmp.Diff([]decode.KindInfo{{Kind: schema.Clock, TickNS: 997_000, States: 1}, {Kind: schema.Heap}, {Kind: schema.HWC}}, p.Kinds); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]decode.Counter{
		{Tag: 0, Name: "cycles", Title: "CPU Cycles", TimeUnit: true, Interval: 1000003},
		{Tag: 1, Name: "mem_loads", Title: "mem_loads", Interval: 10007, Trigger: decode.TriggerSkid},
	}, p.Counters); d != "" {
		t.Error(d)
	}
	wantReasons(t, rec, diagnostic.Info,
		"log.xml:unknown-element", "log.xml:unknown-element", "log.xml:unknown-event", "overview:missing-file",
		"log.xml:collector-warning", "log.xml:collector-warning", "map.xml:empty-file",
		"profile:no-events", "heaptrace:no-events", "hwcounters:no-events", "heaptrace:untraced-calls",
		"log.xml:unused-event", "log.xml:unused-attribute")
}

// A log may end in several ways. The reader reports the problems, and whether the process ended.
func TestLogStates(t *testing.T) {
	run := `<event kind="run" tstamp="5.000000000" time="1"/>` + "\n"
	head := `<experiment version="12.4"></experiment><system arch="x86_64" os="Linux"/>` + "\n"
	exec := `<event kind="exec_start" tstamp="0.1" variant="execve" lineage="_x1" follow="1"/>` + "\n"
	for _, c := range []struct {
		name, log string
		opened    bool
		closed    bool
		want      []string // problems of the log, without remarks
	}{
		{"exit", head + run + `<event kind="exit" tstamp="1.5"/>`, true, true, nil},
		{"run twice", head + run + run + `<event kind="exit" tstamp="1.5"/>`, true, true, nil},
		{"exec", head + run + exec, true, true, nil},
		{"exec failed", head + run + exec + `<event kind="exec_error" tstamp="0.2"/>`, true, false, []string{"not-closed"}},
		{"not closed", head + run, true, false, []string{"not-closed"}},
		{"run again", head + run + `<event kind="exit" tstamp="1.5"/>` + run, true, false, []string{"not-closed"}},
		{"cut behind a line", head + run, true, false, []string{"maybe-cut", "not-closed"}},
		{"cut behind exec", head + run + exec, true, true, []string{"maybe-cut"}},
		{"cut in the padding", head + run + strings.Repeat("\x00", 100), true, false, []string{"not-closed"}},
		{"cut in a tag", head + run + `<event kind="ex`, true, false, []string{"xml-syntax", "not-closed"}},
		{"cut in an element", head + run + `<event kind="cwarn" id="9">te`, true, false, []string{"xml-syntax", "collector-warning", "not-closed"}},
		{"bad line", head + run + `<event kind="sa<mple/>` + "\n" + `<event kind="exit" tstamp="1.5"/>`, true, true, []string{"xml-syntax"}},
		{"bad number", head + run + `<process pid="x"/>`, true, false, []string{"bad-number", "not-closed"}},
		{"bad time", head + run + `<event kind="exit" tstamp="x"/>`, true, false, []string{"bad-number", "not-closed"}},
		{"text after a hole", head + run + strings.Repeat("\x00", 5000) + `<event kind="exit" tstamp="1.5"/>` + "\x00\x00", true, true, nil},
		{"no run", head + `<event kind="exit" tstamp="1.5"/>`, false, false, []string{"not-started"}},
		{"old", strings.Replace(head, "12.4", "10.1", 1) + run, false, false, []string{"unsupported-version"}},
		{"empty", "", false, false, []string{"not-started"}},
		{"NULs", strings.Repeat("\x00", 70000), false, false, []string{"not-started"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newExperiment(t)
			e.Segment(0, 1, 1, 0, 5, "/bin/a")
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			if c.log != "" && !strings.HasPrefix(c.name, "cut") {
				c.log += strings.Repeat("\x00", 1<<16-1-len(c.log)%(1<<16)) + "\n" // as the collector does
			}
			e.WriteFile("log.xml", []byte(c.log))
			rec := open(t, e.Dir)
			if len(rec.Processes) > 0 != c.opened || c.opened && rec.Processes[0].Closed != c.closed {
				t.Errorf("%d processes", len(rec.Processes))
			}
			for i := range c.want {
				c.want[i] = "log.xml:" + c.want[i]
			}
			wantReasons(t, rec, diagnostic.Warning, c.want...)
		})
	}
}

// Descendants have the right order, start and name; those without data are left out.
func TestDescendants(t *testing.T) {
	e := newExperiment(t)
	e.Command = "/bin/first arg"
	e.Segment(0, 0x1000, 1, 0, 5, "/bin/first")
	e.Declare(schema.Heap, "")
	add := func(lineage string, start int64, command string) *gprofngtest.Experiment {
		d := e.Descendant(lineage, start)
		d.Command = command
		d.Segment(5, 0x1000, 1, 0, 5, "/bin/first")
		d.Declare(schema.Heap, "")
		return d
	}
	for _, d := range []*gprofngtest.Experiment{add("_f10", 300, "(fork)"), add("_f2", 200, "(fork)"), add("_f2_x1", 250, "/bin/second")} {
		d.Events(schema.Heap).Put(0, &gprofngtest.Layouts[schema.Heap][0], gprofngtest.Packet{Time: 7, Stack: d.Frame(1), Values: []int64{0, 1, 2}})
		d.Overview(0, nil, nil)
		d.Overview(9, nil, nil)
	}
	add("_x1", 400, "/bin/nothing")
	lost := add("_x2", 500, "/bin/lost")
	lost.Events(schema.Heap).Put(0, &gprofngtest.Layouts[schema.Heap][0], gprofngtest.Packet{Time: 7, Stack: 99, Values: []int64{0, 1, 2}})
	rec := build(t, e)
	type process struct {
		Number          int
		Lineage, Target string
		Start           int64
		Times           []int64
		Map             int64
	}
	var got []process
	for _, p := range rec.Processes {
		columns, _ := events(t, p, schema.Heap)
		got = append(got, process{p.Number, p.Lineage, p.Target, p.StartNS, columns["time_ns"], p.Mappings[0].Time})
		if len(p.Overview) > 0 && p.Overview[0].T0NS != p.StartNS {
			t.Errorf("%s: the overview starts at %d", p.Lineage, p.Overview[0].T0NS)
		}
	}
	if d := cmp.Diff([]process{
		{1, "", "first", 0, nil, 0},
		{2, "_f2", "first", 200, []int64{207}, 205},
		{3, "_f2_x1", "second", 250, []int64{257}, 255},
		{4, "_f10", "first", 300, []int64{307}, 305},
		{5, "_x2", "lost", 500, []int64{507}, 505},
	}, got); d != "" {
		t.Error(d)
	}
	wantReasons(t, rec, diagnostic.Error, "_x2.er/heaptrace:missing-stack")
	if all := reasons(rec, diagnostic.Info); !slices.Contains(all, "_x1.er:descendant-without-data") {
		t.Errorf("no word of the descendant left out: %v", all)
	}
}

func TestNotOpened(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/file.er", "")
	write(t, dir+"/empty.er/x", "")
	for name, want := range map[string]string{
		"missing.er": "missing.er:not-found", "file.er": "file.er:not-a-directory", "empty.er": "log.xml:missing-file",
	} {
		rec := open(t, filepath.Join(dir, name))
		wantReasons(t, rec, diagnostic.Info, want)
		if len(rec.Processes) != 0 || rec.Locate("/bin/true") != nil && name != "empty.er" {
			t.Errorf("%s was opened", name)
		}
	}
}

// Values that are known to mislead are reported, and so is the lack of values.
func TestJudgements(t *testing.T) {
	for _, events := range []int64{10, 0} {
		e := newExperiment(t)
		e.Segment(0, 1, 1, 0, 5, "/bin/a")
		e.Declare(schema.Clock, `ptimer="10000" numstates="1"`)
		e.Log(`<event kind="cwarn" id="207">10000 -&gt; 100000</event>`)
		e.Log(`<event kind="comment" id="400">Archive command run</event>`)
		e.Overview(0, nil, nil)
		e.Overview(2e9, []int64{2e9, 9e8, 1e8}, nil)
		for i := range events {
			e.Events(schema.Clock).Put(0, &gprofngtest.Layouts[schema.Clock][0], gprofngtest.Packet{Time: i * 1e8, Stack: e.Frame(1), Values: []int64{10, 1}})
		}
		wantReasons(t, build(t, e), diagnostic.Warning, "log.xml:collector-warning", "archives:missing-file", "profile:cpu-time-mismatch")
	}
}

// What `memop` says about a counter's PCs.
func TestCounterTrigger(t *testing.T) {
	want := map[string]decode.Trigger{
		"0": decode.NoTrigger, "4": decode.NoTrigger, "256": decode.NoTrigger, "1": decode.TriggerSkid, "3": decode.TriggerSkid,
		"15": decode.TriggerSkid, "0x303": decode.TriggerSkid, "515": decode.TriggerExact, "0x403": decode.TriggerBehind,
	}
	e := newExperiment(t)
	tag := 0
	for memop := range want {
		e.Counter(tag, "memop "+memop, 10007, `memop="`+memop+`"`)
		tag++
	}
	for _, c := range build(t, e).Processes[0].Counters {
		if memop := strings.TrimPrefix(c.Name, "memop "); c.Trigger != want[memop] {
			t.Errorf("%s: %d, want %d", c.Name, c.Trigger, want[memop])
		}
	}
}

// The tables of a log are bounded, and the ends of threads are found without a search.
func TestLimits(t *testing.T) {
	e := newExperiment(t)
	e.Segment(0, 1, 1, 0, 5, "/bin/a")
	for i := range 70_000 {
		e.JavaThread(int64(i), "t", "g", 1, 0)
		e.Log(`<event kind="cwarn" id="9">text</event>`)
	}
	for i := range 300_000 {
		e.Unmap(1, uint64(i))
	}
	rec := build(t, e)
	got := reasons(rec, diagnostic.Error)
	for _, want := range []string{"log.xml:too-many-java-threads", "log.xml:too-many-collector-warnings", "map.xml:too-many-maps"} {
		if !slices.Contains(got, want) {
			t.Errorf("no %s in %v", want, slices.Compact(got))
		}
	}
	if p := rec.Processes[0]; len(p.JavaThreads) != 1<<16 || len(p.Mappings) != 1<<18 {
		t.Errorf("%d threads, %d maps", len(p.JavaThreads), len(p.Mappings))
	}
}

// Times that are years away from the founder's start are ignored.
func TestAbsurdTimes(t *testing.T) {
	const absurd = int64(1) << 62
	e := newExperiment(t)
	e.Segment(0, 1, 1, 0, 5, "/bin/a")
	add := func(lineage string, start, time int64) {
		d := e.Descendant(lineage, 10)
		d.Start = start
		d.Segment(0, 1, 1, 0, 5, "/bin/a")
		d.Declare(schema.Heap, "")
		stack := d.Frame(1)
		for range 3 {
			d.Events(schema.Heap).Put(0, &gprofngtest.Layouts[schema.Heap][0], gprofngtest.Packet{Thread: 7, Time: time - start, Stack: stack, Values: []int64{0, 1, 2}})
		}
	}
	add("_f1", e.Start+10, absurd)
	add("_f2", absurd, absurd)
	add("_f3", absurd, e.Start+20)
	rec := build(t, e)
	for _, p := range rec.Processes {
		got, _ := events(t, p, schema.Heap)
		for _, time := range append(got["time_ns"], p.StartNS) {
			if time < 0 || time > 60*60*1e9 {
				t.Errorf("%s: %d ns after the founder's start", p.Lineage, time)
			}
		}
	}
	if got := reasons(rec, diagnostic.Error); !slices.Contains(got, "_f2.er/log.xml:bad-time") || !slices.Contains(got, "_f3.er/log.xml:bad-time") {
		t.Errorf("%v", got)
	}
}
