package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stackmill/internal/objstore"
	"stackmill/pipeline/owner"
	"stackmill/pipeline/plan"
)

// outputPath is the value of a flag that names a file or folder to write. checkPlaces checks every
// such flag before the verb begins.
type outputPath string

func (p *outputPath) Set(path string) error { *p = outputPath(path); return nil }
func (p *outputPath) String() string        { return string(*p) }
func (p *outputPath) Type() string          { return "string" }

// outputVar adds a flag that names a file or folder to write.
func outputVar(f *pflag.FlagSet, p *string, name, short, value, usage string) {
	*p = value
	f.VarP((*outputPath)(p), name, short, usage)
}

// checkPlaces returns an error if a flag would make the verb write into a store, the user's cache
// or a recording.
func (a *app) checkPlaces(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		p, ok := f.Value.(*outputPath)
		path := f.Value.String()
		if !ok || err != nil || path == "" || path == "-" || objstore.Is(path) {
			return
		}
		if what := a.ownerOf(string(*p), f.Name == cacheFlag); what != "" {
			err = fmt.Errorf("%s: --%s: %s belongs to %s (choose another path)", cmd.Name(), f.Name, path, what)
		}
	})
	return err
}

// cacheFlag is the name of the flag for the user's cache.
const cacheFlag = "cache"

// ownerOf describes the store, cache or recording that a path is part of; "" for none.
func (a *app) ownerOf(path string, isCache bool) string {
	cache := localCache()
	if isCache {
		cache = ""
	}
	return owner.Find(plan.Absolute(path), a.store, cache)
}
