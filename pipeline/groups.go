package pipeline

// Small recordings share a batch: so many of them, or as many as have so many bytes. A
// kill costs a group what was read of it.
const (
	groupInputs = 128
	groupBytes  = 32 << 20
	largeInput  = 4 << 20 // has a batch of its own
)

// fewestGroups is how many groups there are if there are inputs for them, so that few
// inputs, too, are read side by side.
const fewestGroups = 16

// groups cuts the inputs into those of one batch each, by nothing but their order and
// sizes: how many are read side by side makes no difference to what is written. Those that
// are done already are left out. The groups have the inputs' numbers.
func groups(inputs []input, done []bool) (groups [][]int) {
	left := 0
	for i := range inputs {
		if !done[i] {
			left++
		}
	}
	most := min(groupInputs, max(1, left/fewestGroups))
	var small []int
	bytes := int64(0)
	end := func() {
		if len(small) > 0 {
			groups = append(groups, small)
		}
		small, bytes = nil, 0
	}
	for i := range inputs {
		switch n := inputs[i].bytes; {
		case done[i]:
		case n >= largeInput:
			groups = append(groups, []int{i})
		default:
			small = append(small, i)
			if bytes += n; len(small) == most || bytes >= groupBytes {
				end()
			}
		}
	}
	end()
	return groups
}
