package source

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"stackmill/internal/safefile"
	"stackmill/stages/decode"
)

// A recorded path leads only to files that everyone may read, whatever links are on it. The user who
// runs the tests may read all of them.
func TestPrivate(t *testing.T) {
	dir := everyones(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	write(t, at("open/a.c"), "text")
	secret := write(t, at("open/secret"), "secret")
	hidden := write(t, at("closed/a.c"), "secret")
	if err := errors.Join(os.Chmod(secret, 0o640), os.Chmod(at("closed"), 0o750),
		os.Symlink(secret, at("open/link.c")), os.Symlink(hidden, at("open/far.c")), os.Symlink(at("closed"), at("open/folder")),
		os.Symlink("a.c", at("open/good.c")), os.Symlink(at("open"), at("same")), os.Symlink("loop.c", at("open/loop.c")),
		unix.Mkfifo(at("open/pipe.c"), 0o644), os.Symlink("/dev/zero", at("open/zero.c"))); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{
		at("open/a.c"):           nil,
		at("open/good.c"):        nil,
		at("same/good.c"):        nil,
		secret:                   ErrPrivate,
		hidden:                   ErrPrivate,
		at("open/link.c"):        ErrPrivate,
		at("open/far.c"):         ErrPrivate,
		at("open/folder/a.c"):    ErrPrivate,
		at("closed/../open/a.c"): nil,
		"/proc/self/status":      ErrPrivate,
		"/proc/self/maps":        ErrPrivate,
		"/sys/kernel/mm/transparent_hugepage/enabled": ErrPrivate,
		at("open/pipe.c"): safefile.ErrNotRegular,
		at("open/zero.c"): safefile.ErrNotRegular,
		"/dev/zero":       safefile.ErrNotRegular,
		at("open/none.c"): ErrNotFound,
	} {
		text, err := (&Finder{}).Read(path)
		if !errors.Is(err, want) || want == nil && (text.Lines[0] != "text" || !text.Recorded) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
		if _, err := (&Finder{NoRecorded: true}).Read(path); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v, though recorded paths are not wanted", path, err)
		}
	}
	if _, err := (&Finder{}).Read(at("open/loop.c")); err == nil {
		t.Error("a loop of links has a text")
	}
	// In a folder that the user names, private files are read.
	for _, path := range []string{"/build/secret", "/build/link.c", "/build/folder/a.c"} {
		text, err := (&Finder{Rules: []Rule{{From: "/build", To: at("open")}}}).Read(path)
		if err != nil || text.Lines[0] != "secret" || text.Recorded {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// Links in a recording's archives stay in the recording.
func TestArchives(t *testing.T) {
	dir := everyones(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	outside := write(t, at("outside.c"), "outside")
	write(t, at("x.er/archives/a.c"), "text")
	write(t, at("x.er/_f1.er/b.c"), "text")
	write(t, at("archives/a.c"), "outside")
	if err := errors.Join(
		os.Symlink(outside, at("x.er/archives/absolute.c")), os.Symlink("../../outside.c", at("x.er/archives/out.c")),
		os.Symlink("a.c", at("x.er/archives/near.c")), os.Symlink("../_f1.er/b.c", at("x.er/archives/in.c")),
		os.Symlink("loop.c", at("x.er/archives/loop.c")), os.Symlink("/dev/zero", at("x.er/archives/zero.c")),
		unix.Mkfifo(at("x.er/archives/pipe.c"), 0o644), os.Symlink("none", at("x.er/archives/gone.c")),
		os.Mkdir(at("y.er"), 0o755), os.Symlink("../archives", at("y.er/archives"))); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{
		"x.er/archives/a.c":        nil,
		"x.er/archives/near.c":     nil,
		"x.er/archives/in.c":       nil,
		"x.er/archives/out.c":      ErrLeadsOut,
		"x.er/archives/absolute.c": ErrLeadsOut,
		"x.er/archives/zero.c":     ErrLeadsOut,
		"y.er/archives/a.c":        ErrLeadsOut,
		"x.er/archives/pipe.c":     safefile.ErrNotRegular,
		"x.er/archives/loop.c":     unix.ELOOP,
		"x.er/archives/gone.c":     ErrNotFound,
	} {
		f := Finder{NoRecorded: true, Locate: func(string) []decode.Candidate {
			return []decode.Candidate{{Path: at(name), Origin: "archive"}}
		}}
		text, err := f.Read("/a.c")
		if !errors.Is(err, want) || want == nil && text.Lines[0] != "text" {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
}
