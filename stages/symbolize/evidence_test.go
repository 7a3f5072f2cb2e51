package symbolize

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"stackmill/stages/decode"
	"stackmill/stages/loadobject/symtab"
)

// A file that was written, or put at its path, after it was mapped may not be the one that ran.
func TestDoubts(t *testing.T) {
	const hour = time.Hour
	now := time.Now().Truncate(time.Second)
	file := filepath.Join(t.TempDir(), "p")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	var st unix.Stat_t
	if err := unix.Stat(file, &st); err != nil {
		t.Fatal(err)
	}
	inode := st.Ino
	for _, c := range []struct {
		name     string
		path     string        // as recorded, empty: the file's
		modified time.Duration // from now
		change   func(*decode.Recording, *decode.MapEvent)
		want     string // part of the message, empty: no doubt
	}{
		{"older", "", -3 * hour, func(rec *decode.Recording, _ *decode.MapEvent) { rec.Began = now.Add(hour) }, ""},
		{"modified since", "", -hour, nil, "was modified at " + formatTime(now.Add(-hour)) + ", but the recording began at " + formatTime(now.Add(-2*hour))},
		{"built while it was recorded", "", -hour, func(_ *decode.Recording, m *decode.MapEvent) { m.Time = int64(3 * hour) }, ""},
		{"before it began at the latest", "", -2*hour + time.Second/4, func(_ *decode.Recording, m *decode.MapEvent) { m.File.Inode = inode }, ""},
		{"in the same second, but later", "", -2*hour + 3*time.Second/4, func(_ *decode.Recording, m *decode.MapEvent) { m.File.Inode = inode }, "was modified at"},
		{"installed since, by its inode's time", "", -3 * hour, nil, "was put there at"},
		{"elsewhere that time says nothing", "/bin/p", -3 * hour, nil, ""},
		{"from another machine", "", -3 * hour, func(rec *decode.Recording, _ *decode.MapEvent) { rec.Host = "another" }, "but the recording was made on another"},
		{"from a machine without a name", "", -3 * hour, func(rec *decode.Recording, _ *decode.MapEvent) { rec.Host = "" }, ""},
		{"from another machine, in a copy of its files", "/bin/p", -3 * hour, func(rec *decode.Recording, _ *decode.MapEvent) { rec.Host = "another" }, ""},
		{"nor of the inode that was mapped", "", -3 * hour, func(_ *decode.Recording, m *decode.MapEvent) { m.File.Inode = inode }, ""},
		{"made of a dump by perf", "/tmp/jitted-7-12.so", -hour, nil, ""},
		{"modified since elsewhere", "/bin/p", -hour, nil, "was modified at"},
		{"when its file tells", "", -hour, func(rec *decode.Recording, _ *decode.MapEvent) { rec.Started = time.Time{} },
			"but the recording began at " + formatTime(now.Add(-2*hour+time.Second/2))},
		{"no time at all", "", -hour, func(rec *decode.Recording, _ *decode.MapEvent) { rec.Started, rec.Began = time.Time{}, time.Time{} }, ""},
		{"no time, but an inode", "", -hour, func(rec *decode.Recording, m *decode.MapEvent) {
			rec.Started, rec.Began, m.File.Inode = time.Time{}, time.Time{}, inode+1
		}, "not the recorded inode"},
		{"proved by its build-id", "", -hour, func(_ *decode.Recording, m *decode.MapEvent) { m.BuildID = "aa" }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := os.Chtimes(file, now.Add(c.modified), now.Add(c.modified)); err != nil {
				t.Fatal(err)
			}
			path := c.path
			if path == "" {
				path = file
			}
			r, rec := recording(tableMap{file: tableOf("aa", symtab.Function{Name: "f"})})
			rec.Locate = func(string) []decode.Candidate { return []decode.Candidate{{Path: file, Origin: "path"}} }
			rec.Started, rec.Began, rec.Host = now.Add(-2*hour), now.Add(-2*hour+time.Second/2), hostname()
			m := text(path, 0x401000)
			if c.change != nil {
				c.change(rec, &m)
			}
			rec.Processes = append(rec.Processes, &decode.Process{Mappings: []decode.MapEvent{m}})
			pr := r.Process(rec.Processes[len(rec.Processes)-1], "map.xml")
			if got := at(pr, 0x401010, m.Time); !strings.HasSuffix(got, " f") {
				t.Errorf("%s", got)
			}
			r.Finish()
			got := ""
			for _, p := range rec.Problems.Problems {
				got += p.String()
			}
			if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// The list of generated code of a process is written while it runs, not later.
func TestDoubtsOfLists(t *testing.T) {
	file := filepath.Join(t.TempDir(), "list")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	r, rec := recording(nil)
	rec.Began, rec.Host = time.Now().Add(-time.Hour), hostname()
	for _, c := range []struct {
		length time.Duration
		path   string
		want   bool
	}{{time.Minute, decode.PerfMap(7), true}, {2 * time.Hour, decode.PerfMap(7), false}, {time.Minute, file, false}} {
		rec.Processes = []*decode.Process{{DurationNS: int64(c.length)}}
		if got := r.findPerfMapDoubt(decode.PerfMap(7), c.path, time.Now()); (got != nil) != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// If a path named several files during the recording, the file there now can only be the last one.
// A deleted file is identified by its build-id.
func TestReplaced(t *testing.T) {
	r, rec := recording(tableMap{"/bin/p": tableOf("", symtab.Function{Name: "new"}), "/bin/q": tableOf("aa", symtab.Function{Name: "again"})})
	mapped := func(inode uint64, address uint64, time int64) decode.MapEvent {
		m := text("/bin/p", address)
		m.File.Inode, m.Time = inode, time
		return m
	}
	gone := text("/bin/q (deleted)", 0x801000)
	gone.BuildID = "aa"
	other := text("/bin/p (deleted)", 0x901000)
	other.BuildID = "aa"
	rec.Processes = []*decode.Process{{Mappings: []decode.MapEvent{mapped(5, 0x401000, 1), mapped(6, 0x601000, 2), gone, other}}}
	pr := r.Process(rec.Processes[0], "map")
	for pc, want := range map[uint64]string{
		0x401010: "p <static>@0x1000", 0x601010: "p new", 0x801010: "q (deleted) again", 0x901010: "p (deleted) <static>@0x1000",
	} {
		if got := at(pr, pc, 3); got != want {
			t.Errorf("%#x is %q, want %q", pc, got, want)
		}
	}
	if a, b := pr.Resolve(0x401010, 3), pr.Resolve(0x601010, 3); r.Program.Objects[r.Program.Location(a.Location).Object].ID == r.Program.Objects[r.Program.Location(b.Location).Object].ID {
		t.Error("two files of one path have one id")
	}
}
