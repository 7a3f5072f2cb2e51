package storedir

import (
	"errors"
	"fmt"

	"stackmill/internal/lazyregexp"
	"stackmill/schema"
)

// Upper bounds of numbers in commits.
const (
	maxGeneration = 1 << 30
	maxRows       = 1 << 44
	maxBytes      = 1 << 50
)

// verify returns an error if no writer can have written the commit. That matters, because files
// that others may have written decide which paths are later opened, written or removed.
func (c *Commit) verify() error {
	if _, n := splitName(c.Batch); n > maxGeneration {
		return errors.New("its name has a number that is too large")
	}
	ids := make(map[string]bool, len(c.Experiments))
	for i := range c.Experiments {
		e := &c.Experiments[i]
		switch {
		case e.ExperimentID == "":
			return errors.New("it names an experiment without an id")
		case ids[e.ExperimentID]:
			return fmt.Errorf("it names the experiment %q twice", e.ExperimentID)
		case e.Generation < 0 || e.Generation > maxGeneration:
			return fmt.Errorf("the experiment %q has generation %d", e.ExperimentID, e.Generation)
		}
		ids[e.ExperimentID] = true
	}
	for _, g := range c.labelChanges() {
		if g.Number < 0 || g.Number > maxGeneration {
			return fmt.Errorf("its change of labels has the number %d, which is not between 0 and %d", g.Number, maxGeneration)
		}
	}
	tables := make(map[string]bool, len(c.Files))
	for _, f := range c.Files {
		switch {
		case !IsFile(f, c.Batch):
			return fmt.Errorf("it names the file %q, which is not where files of table %q and of this batch are", f.Path, f.Table)
		case tables[f.Table]:
			return fmt.Errorf("it names two files of table %s", f.Table)
		case f.Rows < 0 || f.Rows > maxRows || f.Bytes < 0 || f.Bytes > maxBytes:
			return fmt.Errorf("it says that %s has %d rows and %d bytes", f.Path, f.Rows, f.Bytes)
		}
		tables[f.Table] = true
	}
	return nil
}

// attemptPattern matches the rest of an attempt's name after the name of its batch.
var attemptPattern = lazyregexp.New(`^(-[0-9a-f]{8})?$`)

// fileTables has the names of tables with files, including tables that only schema.OlderVersions
// have.
var fileTables = func() map[string]bool {
	names := map[string]bool{"module_facts": true, "function_facts": true, "location_facts": true}
	for _, t := range schema.Tables {
		names[t.Name] = true
	}
	return names
}()
