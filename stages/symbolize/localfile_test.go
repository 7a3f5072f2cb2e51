package symbolize

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"stackmill/stages/decode"
	"stackmill/stages/loadobject/symtab"
)

// Each case is a row of the table of evidence: how the build-id was recorded, which file is at the
// path on this machine, and its content.
func TestEvidence(t *testing.T) {
	const (
		own, listed, none, ambiguous = "own", "listed", "none", "ambiguous"
		names, noNames               = "p f", "p <static>@0x1000"
		contradicted, displaced      = "warning contradicted-build-id", "warning wrong-load-object"
		wrongID, doubt               = "warning wrong-build-id", "warning modified-load-object"
	)
	began := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	before, during, since := began.Add(-time.Hour), began.Add(5*time.Second), began.Add(time.Hour) // mapped at 1 s, ended at 10 s
	mapped := decode.FileID{Device: 8, Inode: 5, Generation: 77}
	ext4 := func(inode, generation uint64, born, modified time.Time) localFile {
		return localFile{device: 8, inode: inode, generation: generation, fsType: unix.EXT4_SUPER_MAGIC, born: born, modified: modified, changed: modified}
	}
	same := ext4(5, 77, before, before)
	other := ext4(6, 78, before, before)
	reused := ext4(5, 78, during, before)
	later := ext4(6, 78, since, before)
	rewritten := ext4(5, 77, before, during)
	edited := ext4(5, 77, before, since)
	unborn := other
	unborn.born, unborn.changed = time.Time{}, since
	overlay := other
	overlay.fsType = unix.OVERLAYFS_SUPER_MAGIC
	subvolume := ext4(5, 0, before, before)
	subvolume.device, subvolume.fsType = 40, unix.BTRFS_SUPER_MAGIC
	for _, c := range []struct {
		name    string
		id      string
		here    localFile
		content string // the build-id of the file at the path; the recorded one is aa
		change  func(*fixture)
		want    string
		why     string
	}{
		{"own id, another inode", own, other, "aa", nil, names, ""},
		{"own id, other content", own, same, "bb", nil, noNames, wrongID},
		{"own id, rewritten", own, rewritten, "aa", nil, names, ""},

		{"listed, mapped file", listed, same, "aa", nil, names, ""},
		{"listed, mapped file has another id", listed, same, "bb", nil, names, "info contradicted-build-id"},
		{"listed, mapped file was rewritten meanwhile", listed, rewritten, "aa", nil, noNames, contradicted},
		{"listed, mapped again after it was rewritten", listed, rewritten, "aa", (*fixture).mapAgain, names, doubt},
		{"listed, mapped file was rewritten with another id", listed, rewritten, "bb", nil, noNames, wrongID},
		{"listed, touched since", listed, edited, "aa", nil, names, ""},
		{"listed, edited since", listed, edited, "bb", nil, noNames, wrongID},
		{"listed, another file", listed, other, "aa", nil, noNames, contradicted},
		{"listed, another file in the place of its inode", listed, reused, "aa", nil, noNames, contradicted},
		{"listed, another file, of another id", listed, other, "bb", nil, noNames, wrongID},
		{"listed, installed again since", listed, later, "aa", nil, names, ""},
		{"listed, rebuilt since", listed, later, "bb", nil, noNames, wrongID},
		{"listed, another file, perhaps since", listed, unborn, "aa", nil, names, doubt},
		{"listed, overlay", listed, overlay, "aa", nil, names, ""},
		{"listed, subvolume", listed, subvolume, "aa", nil, names, ""},
		{"listed, without generation", listed, other, "aa", func(f *fixture) { f.mapping.File.Generation = 0 }, noNames, contradicted},
		{"listed, without inode", listed, other, "aa", func(f *fixture) { f.mapping.File = decode.FileID{} }, names, ""},
		{"listed, another host", listed, other, "aa", func(f *fixture) { f.rec.Host = "elsewhere" }, names, ""},
		{"listed, another machine of that name", listed, other, "aa", func(f *fixture) { f.files["/bin/sh"] = ext4(999, 1, before, before) }, names, ""},
		{"listed, nothing else to compare", listed, other, "aa", func(f *fixture) { delete(f.files, "/bin/sh") }, names, doubt},
		{"listed, nothing else, same boot", listed, other, "aa", func(f *fixture) { delete(f.files, "/bin/sh"); f.sameBoot = true }, noNames, contradicted},
		{"listed, copy of the files", listed, other, "aa", func(f *fixture) { f.found = "/copy/bin/p" }, noNames, contradicted},
		{"listed, copy of the mapped file", listed, other, "aa", func(f *fixture) { f.copy = "old" }, names, "info contradicted-build-id"},
		{"listed, made by perf inject", listed, other, "aa", func(f *fixture) { f.mapping.Path = "/bin/jitted-1-2.so"; f.files[f.mapping.Path] = other }, "jitted-1-2.so f", ""},

		{"no id, mapped file", none, same, "bb", nil, names, ""},
		{"no id, mapped file was rewritten", none, rewritten, "bb", nil, names, ""}, // TestDoubts has the warning
		{"no id, another file", none, other, "bb", nil, noNames, displaced},
		{"no id, another file in the place of its inode", none, reused, "bb", nil, noNames, displaced},
		{"no id, rebuilt since", none, later, "bb", nil, noNames, displaced},
		{"no id, overlay", none, overlay, "bb", nil, names, ""},
		{"no id, another host", none, other, "bb", func(f *fixture) { f.rec.Host = "elsewhere" }, names, ""},

		{"several files, the mapped one", ambiguous, same, "aa", nil, names, ""},
		{"several files, another one", ambiguous, other, "aa", nil, noNames, displaced},
		{"several files, overlay", ambiguous, overlay, "aa", nil, noNames, displaced},
		{"several files, another host", ambiguous, other, "aa", func(f *fixture) { f.rec.Host = "elsewhere" }, noNames, displaced},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := fixture{files: map[string]localFile{"/bin/p": c.here, "/bin/sh": ext4(9, 3, before, before)}}
			f.rec = &decode.Recording{PageSize: 0x1000, Host: hostname(), Began: began}
			f.mapping = text("/bin/p", 0x401000)
			f.mapping.File, f.mapping.Time, f.mapping.Ambiguous = mapped, int64(time.Second), c.id == ambiguous
			if f.mapping.ByPath = c.id == listed; c.id == listed || c.id == own {
				f.mapping.BuildID = "aa"
			}
			if c.change != nil {
				c.change(&f)
			}
			got, why := f.resolve(c.content)
			if got != c.want || why != c.why {
				t.Errorf("%s, %q; want %s, %q", got, why, c.want, c.why)
			}
		})
	}
}

// fixture is a recording of /bin/sh and of the program to be found.
type fixture struct {
	rec      *decode.Recording
	mapping  decode.MapEvent
	again    bool
	files    map[string]localFile
	found    string // where the program is found, empty: at its path
	copy     string // the build-id of a file in a folder that the user gave
	sameBoot bool
}

func (f *fixture) mapAgain() { f.again = true }

// ByPath, ByBuildID and SameBoot implement decode.Locator.
func (f *fixture) ByPath(path string) (list []decode.Candidate) {
	if path == "/bin/sh" {
		return nil
	}
	if f.found != "" {
		path = f.found
	}
	list = []decode.Candidate{{Path: path, Origin: "path"}}
	if f.copy != "" {
		list = append(list, decode.Candidate{Path: "/copy" + path, Origin: "path"})
	}
	return list
}

func (f *fixture) ByBuildID(string, string) []decode.Candidate { return nil }

func (f *fixture) SameBoot() bool { return f.sameBoot }

// resolve returns the name of the program's first function, and the problems.
func (f *fixture) resolve(buildID string) (name, problems string) {
	sh := text("/bin/sh", 0x8001000)
	sh.File = decode.FileID{Device: 8, Inode: 9, Generation: 3}
	events := []decode.MapEvent{sh, f.mapping}
	if f.again {
		m := f.mapping
		m.Time = int64(8 * time.Second)
		events = append(events, m)
	}
	f.rec.Processes = []*decode.Process{{Mappings: events, DurationNS: int64(10 * time.Second)}}
	table := tableOf(buildID, symtab.Function{Name: "f"})
	files := tableMap{f.mapping.Path: table, "/copy" + f.mapping.Path: table}
	if f.copy != "" {
		files["/copy"+f.mapping.Path] = tableOf(f.copy, symtab.Function{Name: "f"})
	}
	r := New(f.rec, f, files)
	r.stat = func(path string) (localFile, bool) { x, ok := f.files[path]; return x, ok }
	pr := r.Process(f.rec.Processes[0], "map")
	name = at(pr, 0x401010, int64(9*time.Second))
	r.Finish()
	var list []string
	for _, p := range f.rec.Problems.Problems {
		if !strings.HasSuffix(p.File, "/sh") {
			list = append(list, fmt.Sprint(p.Severity, " ", p.Reason))
		}
	}
	return name, strings.Join(list, "; ")
}

// A new file has another inode, or the same inode with another generation if the file system has
// generations.
func TestStatLocal(t *testing.T) {
	file := filepath.Join(t.TempDir(), "p")
	made := func() localFile {
		if err := os.WriteFile(file, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
		f, ok := statLocal(file)
		if !ok {
			t.Fatal("no file")
		}
		return f
	}
	first := made()
	if again, _ := statLocal(file); again != first || first.inode == 0 || first.fsType == 0 || first.modified.IsZero() {
		t.Errorf("%+v, then %+v", first, again)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if second := made(); second.inode == first.inode && second.generation == first.generation && first.generation != 0 {
		t.Errorf("two files are %+v", first)
	}
	for _, path := range []string{"relative", "/", "/nowhere/at/all", "[vdso]"} {
		if _, ok := statLocal(path); ok {
			t.Errorf("%s is a file", path)
		}
	}
}
