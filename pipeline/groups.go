package pipeline

// Small recordings share a batch: so many of them, or as many as have so many bytes. A
// kill costs a group what was read of it.
const (
	groupInputs = 256
	groupBytes  = 64 << 20
	largeInput  = 4 << 20 // has a batch of its own
)

// Few inputs are cut into up to so many groups, so that they, too, are read side by side;
// but not into groups of less work than so many bytes are, which takes a processor a tenth
// of a second: each batch has files of its own. Each input is some work besides its bytes.
const (
	fewGroups  = 16
	inputBytes = 128 << 10
)

var leastWork int64 = 4 << 20 // tests have less

// groups cuts the inputs into those of one batch each, by nothing but their order and
// sizes: how many are read side by side makes no difference to what is written. Those that
// are done already are left out. The groups have the inputs' numbers.
func groups(inputs []input, done []bool) (groups [][]int) {
	var small []int
	share := shareOf(inputs, done)
	bytes, before, last := int64(0), int64(0), int64(0)
	end := func() {
		if len(small) > 0 {
			groups = append(groups, small)
		}
		small, bytes = nil, 0
	}
	for i := range inputs {
		n := inputs[i].bytes
		switch {
		case done[i]:
			continue
		case n >= largeInput:
			groups = append(groups, []int{i})
			continue
		}
		middle := (before + (n+inputBytes)/2) / share
		if middle != last || len(small) == groupInputs || bytes >= groupBytes {
			end()
		}
		small, bytes, before, last = append(small, i), bytes+n, before+n+inputBytes, middle
	}
	end()
	return groups
}

// shareOf is about how much work each group of small inputs has.
func shareOf(inputs []input, done []bool) int64 {
	n, bytes := int64(0), int64(0)
	for i := range inputs {
		if size := inputs[i].bytes; !done[i] && size < largeInput {
			n, bytes = n+1, bytes+size
		}
	}
	work := bytes + n*inputBytes
	few := min(fewGroups, (work+leastWork/2)/leastWork)
	most := max(1, few, (n+groupInputs-1)/groupInputs, (bytes+groupBytes-1)/groupBytes)
	return max(1, work/most)
}
