package write

import (
	"stackmill/schema"
	"stackmill/storedir"
)

// usual are the tables of which nearly every recording has rows.
var usual = []*schema.Table{
	schema.Experiments, schema.Processes, schema.Metrics, schema.Problems, schema.Recordings,
	schema.LoadObjects, schema.Segments, schema.Modules, schema.Functions, schema.Locations, schema.Listings, schema.Instructions,
	schema.RecordedStacks, schema.StackTree, schema.TreeFrames, schema.Samples,
	schema.StackValues, schema.UsageValues, schema.FunctionValues, schema.CallValues, schema.CallNodes, schema.TreeValues,
	schema.PCValues, schema.ModuleValues, schema.ObjectValues, schema.FunctionRollup, schema.FunctionSums,
}

// Foreseen is Expected of a batch of which nothing is known but its name: it probably has
// these files.
func Foreseen(name string) storedir.Commit {
	c := storedir.Commit{Batch: name}
	add := func(t *schema.Table) {
		c.Files = append(c.Files, storedir.File{Table: t.Name, Path: storedir.FilePath(t.Name, name)})
	}
	for _, t := range usual {
		if add(t); t.Facts != nil {
			add(t.Facts)
		}
	}
	return c
}
