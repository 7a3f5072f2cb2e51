package cache

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"stackmill/stages/loadobject/elf"
	"stackmill/stages/loadobject/symtab"
)

// claims remembers which table was the first with a build-id. A build-id should identify one
// program, but nothing proves it. Tables are keyed by content, so that a file never gets another
// file's functions. If two files have the same build-id but different functions, the second one
// gets a note, in this run or in a later one that uses the same cache.
type claims struct {
	disk disk

	mu    sync.Mutex
	first map[string]string // key of the first table, by build-id
	notes map[string][]symtab.Note
}

// check returns a note if an earlier table with the same build-id has other functions. load returns
// the table with a key, nil if the cache no longer has it.
func (c *claims) check(key string, t *symtab.Table, load func(key string) *symtab.Table) []symtab.Note {
	if _, err := hex.DecodeString(t.BuildID); t.BuildID == "" || err != nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if notes, ok := c.notes[key]; ok {
		return notes
	}
	first, ok := c.first[t.BuildID]
	if !ok {
		first = c.read(t.BuildID)
	}
	var other *symtab.Table
	if first != "" && first != key {
		other = load(first)
	}
	if first != key && other == nil {
		first = key
		c.write(t.BuildID, key)
	}
	c.first[t.BuildID] = first
	var notes []symtab.Note
	if other != nil && differ(t, other) {
		notes = []symtab.Note{{Offset: -1, Reason: elf.ClaimedBuildID, Text: "a file read earlier has the same build-id " + t.BuildID +
			" but other functions: one of the two is damaged or forged"}}
	}
	c.notes[key] = notes
	return notes
}

func (c *claims) path(buildID string) string { return filepath.Join(c.disk.dir, "builds", buildID) }

// read returns the key of the first table with a build-id, from the cache on disk.
func (c *claims) read(buildID string) string {
	body, _ := unseal(c.disk.content(c.path(buildID)))
	return string(body)
}

func (c *claims) write(buildID, key string) {
	if c.disk.dir != "" && os.MkdirAll(filepath.Join(c.disk.dir, "builds"), 0o777) == nil {
		c.disk.store(c.path(buildID), seal([]byte(key)))
	}
}

// differ reports whether two tables belong to different programs: their segments differ, or two
// functions at the same location have no name in common. One common name suffices: a stripped copy
// has fewer names, a copy with a debug file more.
func differ(a, b *symtab.Table) bool {
	if len(a.Segments) > 0 && len(b.Segments) > 0 && !slices.Equal(a.Segments, b.Segments) {
		return true
	}
	at := map[codeLocation][]string{}
	for f := range b.Functions.All() {
		if f.Linkage != "" {
			at[locationOf(b, f)] = symtab.Split(f.Aliases)
		}
	}
	for f := range a.Functions.All() {
		names := at[locationOf(a, f)]
		if f.Linkage != "" && names != nil && !slices.ContainsFunc(symtab.Split(f.Aliases), func(s string) bool { return slices.Contains(names, s) }) {
			return true
		}
	}
	return false
}

// codeLocation is a function's address or, in an object that is not linked (a `.o` file), its
// section and offset there, because stripping such an object moves its sections.
type codeLocation struct {
	region string
	offset uint64
}

func locationOf(t *symtab.Table, f symtab.Function) codeLocation {
	if r, ok := t.Region(f.Offset); ok && len(t.Segments) == 0 {
		return codeLocation{r.Name, f.Offset - r.Offset}
	}
	return codeLocation{"", f.Address}
}
