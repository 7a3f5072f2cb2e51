package perfdata

import "sort"

// mergeRuns sorts moments. What perf writes of a buffer is in the order of time, and the
// buffers are written in turns: the moments are ascending runs, most of which overlap only
// with those next to them. They are merged two by two, from where they overlap.
func mergeRuns(list []moment) {
	ends := runEnds(list)
	var aside []moment
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

// runEnds returns where the ascending runs in a list end.
func runEnds(list []moment) (ends []int) {
	for i := 1; i < len(list); i++ {
		if list[i].before(list[i-1]) {
			ends = append(ends, i)
		}
	}
	return append(ends, len(list))
}

// mergeTwo merges two sorted parts of a list, which meet at middle, and returns the memory
// that it used, which it takes from before if that is enough.
func mergeTwo(list []moment, middle int, before []moment) []moment {
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
