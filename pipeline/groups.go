package pipeline

import "slices"

// Small recordings share a batch: at most groupInputs of them, with at most about groupBytes, not
// counting copies of load objects. A kill loses the batches being filled: a second or two of work.
var groupInputs = 384 // tests have fewer

const (
	groupBytes = 128 << 20
	largeInput = 4 << 20 // recordings of this size have batches of their own
)

// fillers is how many inputs of the same batch are read concurrently. More would wait: much of the
// work for a batch is sequential.
const fillers = 2

// interleaved orders the elements of all batches so that `lanes` batches are filled at a time.
func interleaved[T any](batches [][]T, lanes int) (order []T) {
	var begun [][]T // the rest of the batches that are being filled
	for {
		for len(begun) < lanes && len(batches) > 0 {
			begun, batches = append(begun, batches[0]), batches[1:]
		}
		if len(begun) == 0 {
			return order
		}
		for i, b := range begun {
			order, begun[i] = append(order, b[0]), b[1:]
		}
		begun = slices.DeleteFunc(begun, func(b []T) bool { return len(b) == 0 })
	}
}

// partition assigns inputs to batches, by their order and sizes only, so that batches do not depend
// on Jobs. It leaves out inputs that are done. Each group lists the numbers of its inputs.
func partition(inputs []input, done []bool) (groups [][]int) {
	var small []int
	bytes := int64(0)
	end := func() {
		if len(small) > 0 {
			groups = append(groups, small)
		}
		small, bytes = nil, 0
	}
	for i := range inputs {
		n := inputs[i].recorded
		switch {
		case done[i]:
			continue
		case n >= largeInput:
			groups = append(groups, []int{i})
			continue
		}
		if small, bytes = append(small, i), bytes+n; len(small) == groupInputs || bytes >= groupBytes {
			end()
		}
	}
	end()
	return groups
}
