//go:build cgo

package pipeline

import "stackmill/tablefile/stored"

// What reads a store's tables, for Resymbolize.
type (
	tableReader = stored.Reader
	tableFacts  = stored.Facts
)

var openTable, readFacts = stored.Open, stored.ReadFacts
