package unwind

import (
	"stackmill/stages/loadobject/cfi"
	"stackmill/stages/symbolize"
)

// Cache keeps the results of lookups by PC, location and function for all processes of a
// recording, and the memory that one process's Unwinder leaves to the next.
type Cache struct {
	// IgnoreSettled applies the rules to all words of each stack, also to settled callers. The
	// tree must be the same: tests compare.
	IgnoreSettled bool

	last    *Unwinder
	batch   *PathBatch    // of the current process, not yet emitted
	callers []callerState // by word of the current process

	// Filled on demand.
	pcs       []pcEntry                         // by symbolize.PCNo
	locations []locationEntry                   // by program.LocationNo
	functions []functionClass                   // by program.FunctionNo
	tables    []cachedTable                     // by program.ObjectNo
	gaps      map[*symbolize.Scope]map[edge]gap // in chains of frame pointers
}

// cachedTable is a load object's call frame information, nil if there is none.
type cachedTable struct {
	table *cfi.Table
	found bool
}

// NewCache returns an empty cache.
func NewCache() *Cache { return &Cache{gaps: map[*symbolize.Scope]map[edge]gap{}} }
