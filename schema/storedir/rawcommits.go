package storedir

import (
	"bytes"
	"fmt"

	"stackmill/schema"
)

// RawCommits is what the commit files of a store hold, read and not understood yet: to see
// that they are those of a catalog takes a tenth of the time.
type RawCommits struct {
	State  string // a hash of the names and contents of all files, damaged ones too
	Intact bool   // whether each file is as this program writes them

	store string
	files []*rawCommit
}

// ReadRawCommits reads the commit files of a store. The error is ErrNoStore if there is no store; a
// damaged commit is not an error.
func ReadRawCommits(store string) (*RawCommits, error) {
	g := &RawCommits{Intact: true, store: store}
	state := newStateHash()
	err := eachCommitFile(store, func(string) bool { return false }, func(f *rawCommit) {
		g.Intact = g.Intact && f.err == nil && bytes.HasPrefix(f.data, commitHeader(f.batch)) && checksumMatches(f.data)
		g.files = append(g.files, f)
		state.add(f.batch, f.version.sum)
	})
	g.State = state.String()
	return g, err
}

// commitHeader is how the commit file of a batch begins.
func commitHeader(batch string) []byte {
	return fmt.Appendf(nil, "{\n  \"batch\": %q,\n  \"store_version\": %q,\n", batch, schema.StoreVersion)
}

// Parse returns what the commits say.
func (g *RawCommits) Parse() *Contents {
	c := &Contents{store: g.store, commits: make(map[string]*CommitFile, len(g.files))}
	for _, f := range g.files {
		c.commits[f.batch] = f.parse()
	}
	c.sort()
	return c
}
