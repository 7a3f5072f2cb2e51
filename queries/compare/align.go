package compare

import "slices"

// largestTable bounds the table of common lines that is made of two pieces of text in which
// no line is unique: 4 MB.
const largestTable = 1 << 20

// align returns, for each line of a text, which line of another it is, or -1: lines that are
// unique in both are held to be the same where they are in one order, then those around
// and between them. Between lines that are the same, as many lines as in the other text
// are held to be those, changed.
func align(a, b []string) []int {
	out := make([]int, len(a))
	for i := range out {
		out[i] = -1
	}
	alignPart(a, b, 0, 0, out)
	return out
}

// alignPart aligns parts that begin at lines of the whole texts.
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

// unique returns pairs of lines that are once in each text, in the order of both: as many
// as there can be.
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

// rising returns the longest part of pairs in which the second numbers rise, as the first
// do.
func rising(pairs [][2]int) [][2]int {
	var ends []int // of the best parts, by their length less one
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

// common returns the pairs of a longest common part of two short texts.
func common(a, b []string) (pairs [][2]int) {
	if len(a)*len(b) > largestTable {
		return nil
	}
	width := len(b) + 1
	longest := make([]int32, (len(a)+1)*width) // of the rests from i and j
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
