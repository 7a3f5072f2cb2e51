package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// sizes are the sizes of a store's tables in bytes, the largest first.
type sizes []tableSize

type tableSize struct {
	name  string
	bytes int64
}

func tableSizes(store string) (all sizes, err error) {
	tables := filepath.Join(store, "tables")
	entries, err := os.ReadDir(tables)
	if err != nil {
		return nil, err
	}
	all = make(sizes, len(entries))
	for i, e := range entries {
		all[i].name = e.Name()
		if all[i].bytes, err = size(filepath.Join(tables, e.Name())); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(all, func(a, b tableSize) int { return cmp.Compare(b.bytes, a.bytes) })
	return all, nil
}

func (s sizes) total() (sum int64) {
	for _, t := range s {
		sum += t.bytes
	}
	return sum
}

// shownTables is how many tables sizes.String names.
const shownTables = 6

// String returns the total size of the tables, and the shares of the largest.
func (s sizes) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "store: %.1f MB", float64(s.total())/1e6)
	for _, t := range s[:min(shownTables, len(s))] {
		fmt.Fprintf(&b, ", %s %.0f%%", t.name, 100*float64(t.bytes)/float64(s.total()))
	}
	return b.String()
}

// size returns the sum of the sizes of the files below a folder.
func size(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	return n, err
}

// filesBelow counts the files below a folder.
func filesBelow(dir string) (n int, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return err
	})
	return n, err
}
