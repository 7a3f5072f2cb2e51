// Package owner finds out which store, cache or recording a path belongs to.
package owner

import (
	"os"
	"path/filepath"

	"stackmill/internal/cachetag"
	"stackmill/pipeline"
	"stackmill/schema/storedir"
)

// Find describes the store, cache or recording that an absolute path is part of; "" for none. cache
// is the user's cache; "" leaves caches out. It compares files, not names: there are links, mounts,
// and file systems that ignore case.
func Find(path, store, cache string) string {
	ours := map[string]string{store: "the store " + storedir.DisplayName(store)}
	for _, folder := range []string{store, filepath.Join(store, storedir.TablesDir)} {
		parts, _ := os.ReadDir(folder) // a missing store cannot be damaged
		for _, part := range parts {   // parts may be links to other disks
			ours[filepath.Join(folder, part.Name())] = ours[store]
		}
	}
	if cache != "" {
		ours[cache] = "the cache " + cache
	}
	for _, place := range above(path) {
		is, err := os.Stat(place)
		if err != nil {
			continue
		}
		for part, what := range ours {
			if info, err := os.Stat(part); err == nil && os.SameFile(info, is) {
				return what
			}
		}
		if cache != "" && cachetag.Is(place) {
			return "the cache " + place
		}
		if isStore(place) {
			return "the store " + place
		}
		if !is.IsDir() && !is.Mode().IsRegular() {
			continue
		}
		// A profile in pprof's format may be an earlier export.
		if format := pipeline.FormatOf(place); format != "" && format != "pprof" {
			return "the recording " + place
		}
	}
	return ""
}

// isStore reports whether a folder has what every store has.
func isStore(folder string) bool {
	for _, part := range []string{storedir.CommitsDir, storedir.TablesDir, storedir.StagingDir} {
		if info, err := os.Stat(filepath.Join(folder, part)); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// above returns a path and its parent folders, also the parents of what links point to.
func above(path string) (places []string) {
	for at := path; ; at = filepath.Dir(at) {
		places = append(places, at)
		if real, err := filepath.EvalSymlinks(at); err == nil {
			for ; real != at && real != filepath.Dir(real); real = filepath.Dir(real) {
				places = append(places, real)
			}
		}
		if at == filepath.Dir(at) {
			return places
		}
	}
}
