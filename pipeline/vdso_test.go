package pipeline

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"stackmill/internal/hosterr"
	"stackmill/stages/decode"
	"stackmill/stages/loadobject/cache"
)

// The vdso of the running kernel is a candidate only for the same build-id, and has the functions
// that every kernel provides.
func TestOwnVDSO(t *testing.T) {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil || !bytes.Contains(maps, []byte(vdsoPath)) {
		t.Skip("the kernel maps no vdso")
	}
	v, err := ownVDSO()
	if err != nil {
		t.Fatal(err)
	}
	if v.buildID == "" {
		t.Fatal("the vdso of this process was not found")
	}
	rec := &decode.Recording{Locate: func(string) []decode.Candidate { return nil }}
	files := (&lookup{}).locate(rec)
	for _, id := range []string{"", v.buildID[1:] + "0"} {
		if list := files.ByBuildID(vdsoPath, id); len(list) > 0 {
			t.Errorf("build-id %q: %v", id, list)
		}
	}
	if list := files.ByBuildID("/lib/vdso.so", v.buildID); len(list) > 0 {
		t.Errorf("of another path: %v", list)
	}
	list := files.ByBuildID(vdsoPath, v.buildID)
	if len(list) != 1 || list[0].Origin != "cache" {
		t.Fatalf("candidates %v", list)
	}
	table, err := cache.New(cache.Options{DebugDirs: []string{}}).Local().Load(list[0].Path)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for f := range table.Functions.All() {
		names = append(names, f.Aliases)
	}
	if !strings.Contains(strings.Join(names, "\t"), "clock_gettime") {
		t.Errorf("functions %q", names)
	}
}

// Other memory is not taken for a vdso, even if the list of mappings says so.
func TestNoVDSO(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	mem := file("mem", strings.Repeat("x", 0x2000))
	for name, maps := range map[string]string{
		"empty": "", "none": "0-2000 r-xp 00000000 00:00 0 [vvar]\n", "no range": "0 r-xp 00000000 00:00 0 [vdso]\n",
		"reversed": "2000-1000 r-xp 00000000 00:00 0 [vdso]\n", "too large": "0-ffffffff r-xp 00000000 00:00 0 [vdso]\n",
		"past the end": "1000-3000 r-xp 00000000 00:00 0 [vdso]\n", "too high": "ffffffffffff1000-ffffffffffff2000 r-xp 0 00:00 0 [vdso]\n",
	} {
		if image, err := mappedVDSO(file(name, maps), mem); err == nil {
			t.Errorf("%s: %d bytes", name, len(image))
		}
	}
	image, err := mappedVDSO(file("maps", "0-1000 r--p 0 00:00 0 /bin/a [vdso] b\n1000-2000 r-xp 00000000 00:00 0   [vdso]\n"), mem)
	if err != nil || len(image) != 0x1000 {
		t.Errorf("%d bytes, %v", len(image), err)
	}
	if _, err := mappedVDSO(filepath.Join(dir, "gone"), "/proc/self/mem"); err == nil {
		t.Error("without a list of mappings")
	}
}

// A host error while the vdso is copied affects one recording, not later ones; a missing vdso is
// remembered.
func TestVDSOAfterFault(t *testing.T) {
	var kept vdsoCache
	calls := 0
	copied := func(v vdsoImage, err error) func() (vdsoImage, error) {
		return func() (vdsoImage, error) { calls++; return v, err }
	}
	if _, err := kept.get(copied(vdsoImage{}, unix.EMFILE)); !hosterr.Is(err) {
		t.Errorf("the fault became %v", err)
	}
	want := vdsoImage{"/file", "id"}
	for range 2 {
		if v, err := kept.get(copied(want, nil)); v != want || err != nil {
			t.Errorf("%v, %v", v, err)
		}
	}
	if calls != 2 {
		t.Errorf("it was copied %d times", calls)
	}
	var none vdsoCache
	for range 2 {
		if v, err := none.get(copied(vdsoImage{}, errors.New("no 64-bit object"))); v != (vdsoImage{}) || err != nil {
			t.Errorf("%v, %v", v, err)
		}
	}
	if calls != 3 {
		t.Errorf("what is missing was looked for %d times", calls-2)
	}
}
