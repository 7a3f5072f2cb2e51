package perfdata

import "sort"

// mergeRuns sorts samples by time. perf writes the samples of one buffer in order and the buffers
// in turn: the list consists of ascending runs, and most runs overlap only with their neighbors.
// mergeRuns merges them pairwise, from where they overlap.
func mergeRuns(list []sampleRef) {
	ends := runEnds(list)
	var aside []sampleRef
	for len(ends) > 1 {
		from, n := 0, 0
		for i := 0; i < len(ends); i += 2 {
			end := ends[min(i+1, len(ends)-1)]
			aside = mergeTwo(list[from:end], ends[i]-from, aside)
			from, ends[n], n = end, end, n+1
		}
		ends = ends[:n]
	}
}

// runEnds returns the ends of the ascending runs in a list.
func runEnds(list []sampleRef) (ends []int) {
	for i := 1; i < len(list); i++ {
		if list[i].before(list[i-1]) {
			ends = append(ends, i)
		}
	}
	return append(ends, len(list))
}

// mergeTwo merges two adjacent sorted parts of a list, which meet at middle. It returns its
// scratch memory, for which it reuses before.
func mergeTwo(list []sampleRef, middle int, before []sampleRef) []sampleRef {
	if middle == len(list) || !list[middle].before(list[middle-1]) {
		return before
	}
	first, last := list[middle], list[middle-1]
	from := sort.Search(middle, func(i int) bool { return first.before(list[i]) })
	end := middle + sort.Search(len(list)-middle, func(i int) bool { return !list[middle+i].before(last) })
	left := append(before[:0], list[from:middle]...)
	aside := left
	right, to := list[middle:end], list[from:end]
	for len(right) > 0 {
		if right[0].before(left[0]) {
			to[0], right = right[0], right[1:]
		} else {
			to[0], left = left[0], left[1:]
		}
		to = to[1:]
	}
	copy(to, left)
	return aside
}
