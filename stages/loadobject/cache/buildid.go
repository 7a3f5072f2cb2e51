package cache

import (
	"os"
	"path/filepath"

	"stackmill/internal/safefile"
	"stackmill/stages/loadobject/elf"
)

// buildIDLink is the folder, below a root of debug files or perf's cache, in
// which files are found by build-id.
const buildIDLink = ".build-id"

// DefaultDebugDirs is where distributions install separate debug files, and
// where perf keeps copies of what it recorded (perf-data 10.2).
func DefaultDebugDirs() []string {
	dirs := []string{"/usr/lib/debug"}
	if home, err := os.UserHomeDir(); err == nil {
		dirs = append(dirs, filepath.Join(home, ".debug"))
	}
	return dirs
}

// cachedNames are the names of the files in a folder of perf's cache.
var cachedNames = []string{"elf", "vdso", "kallsyms"}

// Stored returns the copies of a load object below the roots, best first: in
// perf's cache a folder, which was a link to the file in older versions and is
// one where distributions install it; in the cache of debuginfod's clients; or a file in the
// root itself.
func Stored(dirs []string, buildID string) (found []string) {
	if len(buildID) <= 2 {
		return nil
	}
	for _, dir := range dirs {
		at := filepath.Join(dir, buildIDLink, buildID[:2], buildID[2:])
		if isFile(at) {
			found = append(found, at)
			continue
		}
		for _, name := range cachedNames {
			if file := filepath.Join(at, name); isFile(file) {
				found = append(found, file)
			}
		}
		fetched := filepath.Join(dir, buildID, "executable")
		if info, err := safefile.Stat(fetched); err == nil && info.Size() > 0 { // it is empty for what no server has
			found = append(found, fetched)
		}
	}
	for _, dir := range dirs {
		found = append(found, elf.InFolder(dir, buildID, false)...)
	}
	return found
}

func isFile(path string) bool {
	_, err := safefile.Stat(path)
	return err == nil
}
