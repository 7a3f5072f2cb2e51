package verify

import "slices"

// unique reports whether no two rows have equal first columns.
func unique(r *rows, columns int) bool {
	ascending := true
	for i := 1; i < r.n && ascending; i++ {
		ascending = compare(r, columns, i-1, i) < 0
	}
	if ascending {
		return true
	}
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
			if v[a] < v[b] {
				return -1
			}
			return 1
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
