package compare

import "slices"

// largestTable bounds the entries of the table for the longest common subsequence, which is used
// for texts without unique lines in common. Such a table has 4 MB.
const largestTable = 1 << 20

// align maps each line of a to a line of b, or to -1 (patience diff). It first matches lines that
// are unique in both texts and in the same order, and then the lines between these. If equally many
// lines of both texts are left between two matches, it pairs them: they are changed versions of
// each other.
func align(a, b []string) []int {
	out := make([]int, len(a))
	for i := range out {
		out[i] = -1
	}
	alignPart(a, b, 0, 0, out)
	return out
}

// alignPart aligns a part of each text. The parts begin at lines atA and atB.
func alignPart(a, b []string, atA, atB int, out []int) {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		out[atA] = atB
		a, b, atA, atB = a[1:], b[1:], atA+1, atB+1
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		out[atA+len(a)-1] = atB + len(b) - 1
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if len(a) == 0 || len(b) == 0 {
		return
	}
	anchors := unique(a, b)
	if anchors == nil {
		anchors = common(a, b)
	}
	if anchors == nil {
		if len(a) == len(b) {
			for i := range a {
				out[atA+i] = atB + i
			}
		}
		return
	}
	fromA, fromB := 0, 0
	for _, n := range append(anchors, [2]int{len(a), len(b)}) {
		alignPart(a[fromA:n[0]], b[fromB:n[1]], atA+fromA, atB+fromB, out)
		if n[0] < len(a) {
			out[atA+n[0]] = atB + n[1]
		}
		fromA, fromB = n[0]+1, n[1]+1
	}
}

// unique matches lines that occur exactly once in each text. It returns as many pairs as possible
// that are in the same order in both.
func unique(a, b []string) [][2]int {
	type seen struct{ inA, inB, a, b int }
	lines := map[string]*seen{}
	for i, line := range a {
		if lines[line] == nil {
			lines[line] = &seen{}
		}
		lines[line].inA++
		lines[line].a = i
	}
	for i, line := range b {
		if s := lines[line]; s != nil {
			s.inB++
			s.b = i
		}
	}
	var pairs [][2]int
	for _, line := range a {
		if s := lines[line]; s.inA == 1 && s.inB == 1 {
			pairs = append(pairs, [2]int{s.a, s.b})
		}
	}
	return rising(pairs)
}

// rising returns a longest subsequence of pairs in which both numbers increase; the first ones do
// already.
func rising(pairs [][2]int) [][2]int {
	var ends []int // index of the pair that ends the best subsequence of length i+1
	before := make([]int, len(pairs))
	for i, p := range pairs {
		n, _ := slices.BinarySearchFunc(ends, p[1], func(e, b int) int { return pairs[e][1] - b })
		if before[i] = -1; n > 0 {
			before[i] = ends[n-1]
		}
		if n == len(ends) {
			ends = append(ends, 0)
		}
		ends[n] = i
	}
	if ends == nil {
		return nil
	}
	var out [][2]int
	for i := ends[len(ends)-1]; i >= 0; i = before[i] {
		out = append(out, pairs[i])
	}
	slices.Reverse(out)
	return out
}

// common returns a longest common subsequence of two texts, as pairs of lines; nil if they are too
// long.
func common(a, b []string) (pairs [][2]int) {
	if len(a)*len(b) > largestTable {
		return nil
	}
	width := len(b) + 1
	longest := make([]int32, (len(a)+1)*width) // [i*width+j]: length of the longest common subsequence of a[i:] and b[j:]
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				longest[i*width+j] = longest[(i+1)*width+j+1] + 1
			} else {
				longest[i*width+j] = max(longest[(i+1)*width+j], longest[i*width+j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			pairs = append(pairs, [2]int{i, j})
			i, j = i+1, j+1
		case longest[(i+1)*width+j] >= longest[i*width+j+1]:
			i++
		default:
			j++
		}
	}
	return pairs
}
