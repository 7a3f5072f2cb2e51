package symtab

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestShortPaths(t *testing.T) {
	for _, test := range []struct {
		name  string
		units string // path@directory
		want  string
	}{
		{"compiled at the root", "/b/1/main.c@/b/1 /b/1/src/a/util.c@/b/1 /b/1/src/b/util.c@/b/1", "main.c src/a/util.c src/b/util.c"},
		{"another folder", "/build/124/main.c@/build/124 /build/124/src/a/util.c@/build/124", "main.c src/a/util.c"},
		{"one unit", "/b/1/src/util.c@/b/1", "util.c"},
		{"make in folders", "/b/1/main.c@/b/1 /b/1/d1/util.c@/b/1/d1 /b/1/d2/util.c@/b/1/d2", "main.c d1/util.c d2/util.c"},
		{"make in folders only", "/b/1/d1/util.c@/b/1/d1 /b/1/d2/util.c@/b/1/d2", "d1/util.c d2/util.c"},
		{"absolute names, compiled elsewhere", "/ci/9/src/main.c@/tmp/x /ci/9/src/d1/util.c@/tmp/x", "main.c d1/util.c"},
		{"two versions below one directory", "/t/v1/main.c@/t /t/v1/d1/util.c@/t", "main.c d1/util.c"},
		{"sources and generated ones", "/b/1/src/main.c@/b/1/out /b/1/src/d/util.c@/b/1/out /b/1/out/gen/lex.c@/b/1/out", "main.c d/util.c lex.c"},
		{"a library from elsewhere", "/b/1/main.c@/b/1 /b/1/d/util.c@/b/1 /usr/src/z/util.c@/usr/src/z /usr/src/z/x/y.c@/usr/src/z", "main.c d/util.c util.c x/y.c"},
		{"equal ends", "/b/1/main.c@/b/1 /b/1/util.c@/b/1 /usr/z/util.c@/usr/z", "main.c 1/util.c z/util.c"},
		{"compiled at the root of the file system", "/start.S@/ /b/1/main.c@/b/1", "start.S main.c"},
		{"relative directories", "src/a.c@. src/d/b.c@.", "a.c d/b.c"},
		{"no directory", "a.c@ /x/b.c@", "a.c b.c"},
	} {
		units, want := map[string]string{}, map[string]string{}
		wanted := strings.Fields(test.want)
		for i, u := range strings.Fields(test.units) {
			path, directory, _ := strings.Cut(u, "@")
			units[path], want[path] = directory, wanted[i]
		}
		if diff := cmp.Diff(want, shortPaths(units, nil)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", test.name, diff)
		}
	}
}

// If a build lacks a unit, the others have the same short paths.
func TestShortPathsOfOne(t *testing.T) {
	all := map[string]string{"/b/1/main.c": "/b/1", "/b/1/a/util.c": "/b/1", "/b/1/b/util.c": "/b/1"}
	long := shortPaths(all, nil)
	for _, gone := range []string{"/b/1/a/util.c", "/b/1/b/util.c"} {
		some := maps.Clone(all)
		delete(some, gone)
		for unit, short := range shortPaths(some, nil) {
			if short != long[unit] {
				t.Errorf("without %s, %s is %s, not %s", gone, unit, short, long[unit])
			}
		}
	}
}

// Files that declare inlined functions have the same short paths in builds elsewhere, and change no
// unit's short path.
func TestShortPathsOfFiles(t *testing.T) {
	for _, test := range []struct{ name, units, files, want string }{
		{"below the units' folder", "/b/1/main.c@/b/1 /b/1/x/run.c@/b/1", "/b/1/x/get.h /b/1/y/get.h", "main.c x/run.c x/get.h y/get.h"},
		{"next to it", "/b/1/src/main.c@/b/1/out", "/b/1/include/get.h /b/1/out/config.h", "main.c get.h config.h"},
		{"of one name", "/b/1/src/main.c@/b/1/out", "/b/1/include/x/get.h /b/1/include/y/get.h", "main.c x/get.h y/get.h"},
		{"of the system", "/b/1/main.c@/b/1", "/usr/include/string.h /usr/include/bits/string.h", "main.c include/string.h bits/string.h"},
		{"named like a unit", "/b/1/main.c@/b/1 /b/1/x/y.c@/b/1", "/other/main.c /b/1/x/y.c", "main.c x/y.c other/main.c"},
		{"units without a folder in common", "/a/main.c@/a /b/run.c@/b", "/usr/include/string.h", "main.c run.c string.h"},
		{"no units", "", "/usr/include/string.h get.h", "string.h get.h"},
	} {
		units, want := map[string]string{}, map[string]string{}
		wanted, files := strings.Fields(test.want), strings.Fields(test.files)
		for _, u := range strings.Fields(test.units) {
			path, directory, _ := strings.Cut(u, "@")
			units[path], want[path], wanted = directory, wanted[0], wanted[1:]
		}
		for _, f := range files {
			if _, unit := units[f]; !unit {
				want[f], wanted = wanted[0], wanted[1:]
			}
		}
		if diff := cmp.Diff(want, shortPaths(units, files)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", test.name, diff)
		}
	}
}
