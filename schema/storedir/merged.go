package storedir

import (
	"fmt"

	"stackmill/schema"
)

// MergedName returns the name of a batch that merges others: the same for every program that
// merges them, and no damaged commit has it.
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
