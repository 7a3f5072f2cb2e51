package storedir

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/cespare/xxhash/v2"

	"stackmill/schema"
)

// Glance is what the commit files of a store hold, read and not understood yet: to see
// that they are those of a catalog takes a tenth of the time.
type Glance struct {
	// State is a hash of all files' names and contents.
	State string

	store string
	found map[string][]byte
}

// GlanceAt reads the commit files of a store. It returns nil if any of them is not as this
// program writes them, or cannot be read: Look says what is wrong then.
func GlanceAt(store string) *Glance {
	entries, err := os.ReadDir(filepath.Join(store, CommitsDir)) // sorted by name
	if err != nil {
		return nil
	}
	g := &Glance{store: store, found: make(map[string][]byte, len(entries))}
	state := xxhash.New()
	for _, e := range entries {
		batch, ok := strings.CutSuffix(e.Name(), commitSuffix)
		if !ok {
			continue
		}
		data, err := os.ReadFile(commitPath(store, batch))
		if err != nil || !e.Type().IsRegular() || !bytes.HasPrefix(data, begins(batch)) || !proven(data) {
			return nil
		}
		g.found[batch] = data
		fmt.Fprintf(state, "%s %016x\n", batch, xxhash.Sum64(data))
	}
	g.State = Checksum(state.Sum64())
	return g
}

// begins is how the commit file of a batch begins.
func begins(batch string) []byte {
	return fmt.Appendf(nil, "{\n  \"batch\": %q,\n  \"store_version\": %q,\n", batch, schema.StoreVersion)
}

// Look returns what the commits say.
func (g *Glance) Look() *Contents {
	c := &Contents{store: g.store, found: make(map[string]*Damaged, len(g.found))}
	for batch, data := range g.found {
		d := &Damaged{Batch: batch}
		d.Commit, d.Err = Decode(batch, data)
		c.found[batch] = d
	}
	c.sort()
	return c
}
