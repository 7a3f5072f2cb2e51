package cache

import (
	"os"
	"path/filepath"

	"stackmill/internal/safefile"
	"stackmill/stages/loadobject/elf"
)

// DefaultDebugDirs returns the folders in which distributions install separate debug files, and
// perf keeps copies of recorded load objects (perf-data 10.2).
func DefaultDebugDirs() []string {
	dirs := []string{"/usr/lib/debug"}
	if home, err := os.UserHomeDir(); err == nil {
		dirs = append(dirs, filepath.Join(home, ".debug"))
	}
	return dirs
}

// Stored returns the copies of a load object that the folders have under its build-id, best first.
// The entry in `.build-id` is a folder (perf's cache), or the file or a link to it (distributions,
// older versions of perf). Other copies are in debuginfod's client cache, or directly in a folder.
func Stored(dirs []string, buildID string) (found []string) {
	if len(buildID) <= 2 {
		return nil
	}
	for _, dir := range dirs {
		at := filepath.Join(dir, ".build-id", buildID[:2], buildID[2:])
		if isFile(at) {
			found = append(found, at)
			continue
		}
		for _, name := range []string{"elf", "vdso", "kallsyms"} {
			if file := filepath.Join(at, name); isFile(file) {
				found = append(found, file)
			}
		}
		fetched := filepath.Join(dir, buildID, "executable")
		if info, err := safefile.Stat(fetched); err == nil && info.Size() > 0 { // empty: no server has it
			found = append(found, fetched)
		}
	}
	for _, dir := range dirs {
		found = append(found, elf.FilesByBuildID(dir, buildID, false)...)
	}
	return found
}

func isFile(path string) bool {
	_, err := safefile.Stat(path)
	return err == nil
}
