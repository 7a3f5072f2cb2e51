package pipeline

// Small recordings share a batch: so many of them, or as many as have so many bytes. A
// kill costs a group what was read of it.
const (
	groupInputs = 128
	groupBytes  = 16 << 20
	largeInput  = 4 << 20 // has a batch of its own
)

// fewestGroups is how many groups there are if there are inputs for them, so that few
// inputs, too, are read side by side.
const fewestGroups = 16

// groups cuts the inputs into those of one batch each, by nothing but their order and
// sizes: how many are read side by side makes no difference to what is written. The
// groups have the inputs' numbers.
func groups(inputs []input) (groups [][]int) {
	most := min(groupInputs, max(1, len(inputs)/fewestGroups))
	var small []int
	bytes := int64(0)
	end := func() {
		if len(small) > 0 {
			groups = append(groups, small)
		}
		small, bytes = nil, 0
	}
	for i := range inputs {
		if n := inputs[i].bytes; n >= largeInput {
			groups = append(groups, []int{i})
		} else {
			small = append(small, i)
			if bytes += n; len(small) == most || bytes >= groupBytes {
				end()
			}
		}
	}
	end()
	return groups
}
