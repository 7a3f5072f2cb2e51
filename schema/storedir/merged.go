package storedir

import (
	"fmt"

	"stackmill/schema"
)

// MergedName returns the name for a batch that merges others. Programs that merge the same batches
// get the same name. It skips names of damaged commits.
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
