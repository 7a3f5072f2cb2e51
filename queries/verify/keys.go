package verify

import (
	"cmp"
	"crypto/md5"
	"encoding/binary"
	"fmt"
	"slices"

	"stackmill/schema"
)

// unique reports whether no two rows have equal first columns.
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

// compare orders two rows by their first columns, NULL first.
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

// dense reports whether values are 0, 1, 2 and so on.
func dense(values []int64) bool {
	for i, v := range values {
		if v != int64(i) {
			return false
		}
	}
	return true
}

// mask63 keeps 63 bits.
const mask63 = 1<<63 - 1

// pathPart is the macro path_part of the views.
func pathPart(id, place int64) int64 {
	n := (uint64(id) + uint64(place)*7046029254386353131) & mask63
	n = (n ^ n>>31) * 4354685564936845355 & mask63
	n = (n ^ n>>29) * 3202034522624059733 & mask63
	return int64((n ^ n>>32) & mask63)
}

// ruleMark is the hash of a rule's name that the views use in paths of frames; 0 for no rule.
func ruleMark(rule string) int64 {
	if len(rule) == 0 {
		return 0
	}
	sum := md5.Sum([]byte(rule))
	return int64(binary.LittleEndian.Uint64(sum[:8]) >> 1)
}

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
			return fmt.Errorf("%s: a row belongs to no mode", t.Name)
		}
	}
	return nil
}
