package storedir

import (
	"bytes"
	"fmt"

	"stackmill/schema"
)

// Glance is what the commit files of a store hold, read and not understood yet: to see
// that they are those of a catalog takes a tenth of the time.
type Glance struct {
	State  string // a hash of the names and contents of all files, damaged ones too
	Intact bool   // whether each file is as this program writes them

	store string
	files []*commitFile
}

// GlanceAt reads the commit files of a store. The error is ErrNoStore if there is no store; a
// damaged commit is not an error.
func GlanceAt(store string) (*Glance, error) {
	g := &Glance{Intact: true, store: store}
	state := newStateHash()
	err := eachCommitFile(store, func(string) bool { return false }, func(f *commitFile) {
		g.Intact = g.Intact && f.err == nil && bytes.HasPrefix(f.data, begins(f.batch)) && proven(f.data)
		g.files = append(g.files, f)
		state.add(f.batch, f.version.sum)
	})
	g.State = state.String()
	return g, err
}

// begins is how the commit file of a batch begins.
func begins(batch string) []byte {
	return fmt.Appendf(nil, "{\n  \"batch\": %q,\n  \"store_version\": %q,\n", batch, schema.StoreVersion)
}

// Look returns what the commits say.
func (g *Glance) Look() *Contents {
	c := &Contents{store: g.store, found: make(map[string]*Damaged, len(g.files))}
	for _, f := range g.files {
		c.found[f.batch] = f.decode()
	}
	c.sort()
	return c
}
