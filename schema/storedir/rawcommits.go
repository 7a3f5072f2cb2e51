package storedir

import (
	"bytes"
	"fmt"

	"stackmill/schema"
)

// RawCommits are the commit files of a store, not parsed. Comparing them with a catalog takes a
// tenth of the time that parsing takes.
type RawCommits struct {
	State  string // a hash of the names and contents of all files, including damaged ones
	Intact bool   // each file is as this program writes it

	store string
	files []*rawCommit
}

// ReadRawCommits reads the commit files of a store. The error is ErrNoStore if there is no store;
// a damaged commit is no error.
func ReadRawCommits(store string) (*RawCommits, error) {
	return readRawCommits(store, func(string) bool { return true })
}

// ReadRawCommitsOf reads the commit files of these batches, as ReadRawCommits did before the store had others. If a
// file has been removed meanwhile, the commits have another state than they had.
func ReadRawCommitsOf(store string, batches []string) (*RawCommits, error) {
	wanted := make(map[string]bool, len(batches))
	for _, b := range batches {
		wanted[b] = true
	}
	return readRawCommits(store, func(batch string) bool { return wanted[batch] })
}

func readRawCommits(store string, wanted func(batch string) bool) (*RawCommits, error) {
	g := &RawCommits{Intact: true, store: store}
	state := newStateHash()
	err := eachCommitFile(store, func(batch string) bool { return !wanted(batch) }, func(f *rawCommit) {
		g.Intact = g.Intact && f.err == nil && bytes.HasPrefix(f.data, commitHeader(f.batch)) && checksumMatches(f.data)
		g.files = append(g.files, f)
		state.add(f.batch, f.version.sum)
	})
	g.State = state.String()
	return g, err
}

// Batches returns the batches of the commits, sorted.
func (g *RawCommits) Batches() []string {
	names := make([]string, len(g.files))
	for i, f := range g.files {
		names[i] = f.batch
	}
	return names
}

// commitHeader returns the first lines of a batch's commit file.
func commitHeader(batch string) []byte {
	return fmt.Appendf(nil, "{\n  \"batch\": %q,\n  \"store_version\": %q,\n", batch, schema.StoreVersion)
}

// Parse parses the commits.
func (g *RawCommits) Parse() *Contents {
	c := &Contents{store: g.store, commits: make(map[string]*CommitFile, len(g.files))}
	for _, f := range g.files {
		c.commits[f.batch] = f.parse()
	}
	c.sort()
	return c
}
