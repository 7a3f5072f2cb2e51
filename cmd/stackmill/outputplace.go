package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stackmill/internal/cachetag"
	"stackmill/internal/objstore"
	"stackmill/pipeline"
	"stackmill/pipeline/plan"
	"stackmill/schema/storedir"
)

// outputPath is the value of a flag that names a file or folder to write. All verbs' are checked
// by checkPlaces before the verb begins.
type outputPath string

func (p *outputPath) Set(path string) error { *p = outputPath(path); return nil }
func (p *outputPath) String() string        { return string(*p) }
func (p *outputPath) Type() string          { return "string" }

// outputVar adds a flag that names a file or folder to write.
func outputVar(f *pflag.FlagSet, p *string, name, short, value, usage string) {
	*p = value
	f.VarP((*outputPath)(p), name, short, usage)
}

// checkPlaces returns an error if a flag of a verb would write into a store, the user's cache or
// a recording.
func (a *app) checkPlaces(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		p, ok := f.Value.(*outputPath)
		path := f.Value.String()
		if !ok || err != nil || path == "" || path == "-" || objstore.Is(path) {
			return
		}
		if what := a.belongsTo(string(*p), f.Name == cacheFlag); what != "" {
			err = fmt.Errorf("%s: --%s: %s belongs to %s (name another place)", cmd.Name(), f.Name, path, what)
		}
	})
	return err
}

// cacheFlag is the name of the flag for the user's cache.
const cacheFlag = "cache"

// belongsTo says which store, cache or recording a path is part of; empty if it is in none.
// Files are compared, not names: there are links, mounts, and file systems that ignore case.
func (a *app) belongsTo(path string, isCache bool) string {
	ours := map[string]string{a.store: "the store " + storedir.DisplayName(a.store)}
	for _, folder := range []string{a.store, filepath.Join(a.store, storedir.TablesDir)} {
		parts, _ := os.ReadDir(folder) // of a store that is not there, nothing is damaged
		for _, part := range parts {   // which may be links to other disks
			ours[filepath.Join(folder, part.Name())] = ours[a.store]
		}
	}
	if !isCache {
		ours[localCache()] = "the cache " + localCache()
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
		if !isCache && cachetag.Is(place) {
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

// above returns a path and all folders above it, also above where links lead.
func above(path string) (places []string) {
	path = plan.Absolute(path)
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
