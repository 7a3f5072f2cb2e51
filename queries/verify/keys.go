package verify

import (
	"cmp"
	"crypto/md5"
	"encoding/binary"
	"fmt"
	"slices"

	"stackmill/schema"
)

// unique reports whether all rows differ in their first columns (as many as columns says).
func unique(r *rows, columns int) bool {
	order := make([]int, r.n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return compare(r, columns, a, b) })
	for i := 1; i < r.n; i++ {
		if compare(r, columns, order[i-1], order[i]) == 0 {
			return false
		}
	}
	return true
}

// compare orders two rows by their first columns; NULL comes first.
func compare(r *rows, columns, a, b int) int {
	for k, v := range r.values[:columns] {
		if m := r.missing[k]; m != nil && m[a] != m[b] {
			if m[a] {
				return -1
			}
			return 1
		}
		if v[a] != v[b] {
			return cmp.Compare(v[a], v[b])
		}
	}
	return 0
}

// dense reports whether values are 0, 1, 2, ... without gaps.
func dense(values []int64) bool {
	for i, v := range values {
		if v != int64(i) {
			return false
		}
	}
	return true
}

// mask63 masks the lowest 63 bits.
const mask63 = 1<<63 - 1

// pathPart computes what the macro path_part of the views does.
func pathPart(id, place int64) int64 {
	n := (uint64(id) + uint64(place)*7046029254386353131) & mask63
	n = (n ^ n>>31) * 4354685564936845355 & mask63
	n = (n ^ n>>29) * 3202034522624059733 & mask63
	return int64((n ^ n>>32) & mask63)
}

// ruleMark returns the number that represents a rule in identifiers of paths, a hash of its name; 0
// for no rule.
func ruleMark(rule string) int64 {
	if len(rule) == 0 {
		return 0
	}
	sum := md5.Sum([]byte(rule))
	return int64(binary.LittleEndian.Uint64(sum[:8]) >> 1)
}

// modes returns the set of modes of each row of a table, as a bit set.
func (x *experiment) modes(t *schema.Table) []int64 {
	var columns [][]int64
	for _, name := range schema.Modes[:t.ModeColumns()] {
		columns = append(columns, x.col(t, name))
	}
	return sets(columns, x.rows[t].n)
}

// sets returns a bit set of modes for each of n rows. columns are the mode columns, in the order of
// schema.Modes.
func sets(columns [][]int64, n int) []int64 {
	list := make([]int64, n)
	for bit, column := range columns {
		for i := range list {
			list[i] |= column[i] << bit
		}
	}
	return list
}

// checkModes checks that each row belongs to at least one mode.
func (x *experiment) checkModes() error {
	for _, t := range schema.Tables {
		if t.Modes() != 0 && x.rows[t].n > 0 && slices.Contains(x.modes(t), 0) {
			return fmt.Errorf("%s: a row belongs to no mode", t.Name)
		}
	}
	return nil
}
