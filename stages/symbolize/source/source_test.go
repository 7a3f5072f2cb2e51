package source

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/stages/decode"
)

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
	return path
}

// everyones returns a folder that everyone may read.
func everyones(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	if _, err := openPublic(write(t, filepath.Join(dir, "file"), "")); err != nil {
		t.Skipf("not everyone may read below %s", os.TempDir())
	}
	return dir
}

func TestRules(t *testing.T) {
	for _, test := range []struct{ rule, file, want string }{
		{"/build=/src", "/build/a/b.c", "/src/a/b.c"},
		{"/build/=/src/", "/build/a/b.c", "/src/a/b.c"},
		{"/build=/src", "/build2/b.c", ""},
		{"/build/b.c=/src/c.c", "/build/b.c", "/src/c.c"},
		{"/=/root", "/usr/x.h", "/root/usr/x.h"},
		{"=/libc", "stdio/printf.c", "/libc/stdio/printf.c"},
		{"=/libc", "/stdio/printf.c", ""},
		{"/src", "/build/a/b.c", "/src/build/a/b.c /src/a/b.c /src/b.c"},
		{"/src", "b.c", "/src/b.c"},
		{"/src", "../../etc/b.c", "/src/etc/b.c /src/b.c"},
		{"/src", "a/../../b.c", "/src/b.c"},
		{"=/libc", "../b.c", ""},
		{"/build=/src", "/build/../../b.c", ""},
	} {
		r, err := ParseRule(test.rule)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(r.apply(test.file), " "); got != test.want {
			t.Errorf("%s of %s: %q, want %q", test.rule, test.file, got, test.want)
		}
	}
	for _, bad := range []string{"", "/build="} {
		if _, err := ParseRules([]string{"/a=/b", bad}); err == nil {
			t.Errorf("%q is taken for a rule", bad)
		}
	}
}

// The archive comes first, then the rules, then the recorded path.
func TestOrder(t *testing.T) {
	dir := everyones(t)
	own := write(t, filepath.Join(dir, "own", "a.c"), "own\n")
	archived := write(t, filepath.Join(dir, "archives", "a.c_x"), "archived\n")
	mapped := write(t, filepath.Join(dir, "mapped", "a.c"), "mapped\n")
	f := Finder{Locate: func(path string) []decode.Candidate {
		return []decode.Candidate{{Path: archived, Origin: "archive"}, {Path: path, Origin: "path"}}
	}, Rules: []Rule{{To: filepath.Join(dir, "nowhere"), Any: true}, {To: filepath.Dir(mapped), Any: true}}}
	for i, want := range []string{"archived", "mapped", "own"} {
		text, err := f.Read(own)
		if err != nil || text.Lines[0] != want || text.Recorded != (want == "own") {
			t.Errorf("%+v, %v, want the text %s", text, err, want)
		}
		if err := os.Remove([]string{archived, mapped, own}[i]); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.Read(own); !errors.Is(err, ErrNotFound) {
		t.Errorf("error %v, want not found", err)
	}
}

// A relative path has no meaning in the current directory.
func TestRelativePaths(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "a.c", "text")
	for _, path := range []string{"a.c", "./a.c", "", ".", "<built-in>"} {
		if _, err := (&Finder{}).Read(path); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q: error %v, want not found", path, err)
		}
	}
	if text, err := (&Finder{Rules: []Rule{{To: "."}}}).Read("a.c"); err != nil || text.Lines[0] != "text" {
		t.Errorf("%v, %v", text, err)
	}
}

func TestText(t *testing.T) {
	path := filepath.Join(everyones(t), "a.c")
	for text, want := range map[string][]string{
		"":                 {},
		"one":              {"one"},
		"one\n":            {"one"},
		"one\r\n\r\ntwo\r": {"one", "", "two\r"},
		"\n\n":             {"", ""},
		"gr\xfc\xdfe\n":    {"gr\uFFFDe"},
	} {
		got, err := (&Finder{}).Read(write(t, path, text))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got.Lines); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

// Files that are not text are refused with a reason.
func TestRefused(t *testing.T) {
	dir := everyones(t)
	large := filepath.Join(dir, "large.c")
	write(t, large, "")
	if err := os.Truncate(large, maxBytes+1); err != nil {
		t.Fatal(err)
	}
	for want, path := range map[string]string{
		"not a text":         write(t, filepath.Join(dir, "a.o"), "\x7fELF\x00"),
		"not a regular file": dir,
		"larger than 16 MB":  large,
		"more than":          write(t, filepath.Join(dir, "long.c"), strings.Repeat("\n", maxLines+1)),
	} {
		_, err := (&Finder{}).Read(path)
		if err == nil || errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", path, err, want)
		}
	}
}
