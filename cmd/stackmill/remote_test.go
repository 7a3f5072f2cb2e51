package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Without a home directory, the local cache of a store on S3 is in a folder that nobody else can
// read or write.
func TestOwnCache(t *testing.T) {
	temp := t.TempDir()
	for name, value := range map[string]string{"HOME": "", "XDG_CACHE_HOME": "", "TMPDIR": temp} {
		t.Setenv(name, value)
	}
	var dir string
	for range 2 {
		var err error
		if dir, err = ownCache(); err != nil || filepath.Dir(dir) != temp {
			t.Fatal(dir, err)
		}
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	refused := func(what string) {
		if dir, err := ownCache(); err == nil || !strings.Contains(err.Error(), "others can write there") {
			t.Errorf("%s: %s, %v", what, dir, err)
		}
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	refused("a folder that others can write")
	if err := os.Rename(dir, dir+".other"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir+".other", dir); err != nil {
		t.Fatal(err)
	}
	refused("a link")
}
