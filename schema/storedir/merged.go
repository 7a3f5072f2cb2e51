package storedir

import (
	"fmt"

	"stackmill/schema"
)

// MergedName returns the name of a batch that others are merged to, given their names: the
// same whoever merges them, but another one than that of a damaged commit.
func (c *Contents) MergedName(replaces []string, experiments []Entry) string {
	id := schema.NewID("merged")
	for _, name := range replaces {
		id.Text(name)
	}
	for _, e := range experiments {
		id.Text(e.ExperimentID).Number(uint64(e.Generation))
	}
	return c.unusedName(fmt.Sprintf("%s%016x", manyPrefix, id.Sum()))
}
