package verify

import (
	"fmt"
	"slices"

	"stackmill/schema"
)

// modes returns the set of modes of each row of a table.
func (x *experiment) modes(t *schema.Table) []int64 {
	var columns [][]int64
	for _, name := range schema.Modes[:t.ModeColumns()] {
		columns = append(columns, x.col(t, name))
	}
	return sets(columns, x.rows[t].n)
}

// sets returns the set of modes of each of n rows, given the columns in the order of schema.Modes.
func sets(columns [][]int64, n int) []int64 {
	list := make([]int64, n)
	for bit, column := range columns {
		for i := range list {
			list[i] |= column[i] << bit
		}
	}
	return list
}

// checkModes checks that each row belongs to some mode.
func (x *experiment) checkModes() error {
	for _, t := range schema.Tables {
		if t.Modes() != 0 && x.rows[t].n > 0 && slices.Contains(x.modes(t), 0) {
			return fmt.Errorf("%s: a row holds in no mode", t.Name)
		}
	}
	return nil
}
