package prove

import (
	"errors"
	"slices"

	"stackmill/schema"
)

// code are the instructions that are known of a function: where they start and end.
type code []span

type span struct{ start, end int64 }

// codes returns the instructions of each function, which do not overlap, in their order.
func (x *experiment) codes() (map[int32]code, error) {
	t := schema.Instructions
	all := map[int32]code{}
	offset, size := x.col(t, "offset"), x.col(t, "size")
	function := x.col(t, "function_no")
	for start := 0; start < len(function); {
		end := start + 1
		for end < len(function) && function[end] == function[start] {
			end++
		}
		f, err := x.function(function[start])
		if err != nil {
			return nil, err
		}
		c := make(code, 0, end-start)
		for i := start; i < end; i++ {
			if n := len(c); n > 0 && (c[n-1].end > offset[i] || c[n-1].start >= offset[i]) {
				return nil, errors.New("instructions: not in their order, or overlapping")
			}
			c = append(c, span{offset[i], offset[i] + size[i]})
		}
		if all[f] != nil {
			return nil, errors.New("instructions: not in the order of functions")
		}
		all[f] = c
		start = end
	}
	return all, nil
}

// proveCode proves that the values of all PCs are at known instructions, where a function's
// code is known.
func (x *experiment) proveCode() error {
	plain, err := x.codes()
	if err != nil {
		return err
	}
	merged, err := x.withBodies(plain)
	if err != nil {
		return err
	}
	t := schema.Locations
	instruction, guessed, offset, reason := x.col(t, "instruction"), x.missing(t, "instruction"), x.col(t, "offset"), x.col(t, "reason")
	valued, bits := make([]int64, len(x.location)), x.col(schema.PCValues, "modes")
	for i, l := range x.col(schema.PCValues, "location") {
		valued[l] |= bits[i]
	}
	for i := range x.location {
		if reason[i] != none {
			continue
		}
		at := instruction[i]
		if guessed[i] {
			at = offset[i]
		}
		for m, codes := range [modes]map[int32]code{merged, plain, plain} {
			c := codes[x.location[i].function]
			if valued[i]>>m&1 == 0 {
				continue
			}
			_, found := slices.BinarySearchFunc(c, at, func(s span, at int64) int { return int(min(max(s.start-at, -1), 1)) })
			if len(c) > 0 && !found {
				return errors.New("instructions: one with a value is missing")
			}
		}
	}
	return nil
}

// withBodies returns the code of functions as user mode shows it: that of a body is its
// function's.
func (x *experiment) withBodies(plain map[int32]code) (map[int32]code, error) {
	t := schema.Functions
	kinds, body, alone := x.col(t, "kind"), x.col(t, "body_of"), x.missing(t, "body_of")
	if !slices.Contains(kinds, bodyKind) {
		return plain, nil
	}
	ids := numbered(x.col(t, "function_id"))
	merged := map[int32]code{}
	for f, c := range plain {
		to := f
		if kinds[f] == bodyKind && !alone[f] {
			of, known := ids[body[f]]
			if !known {
				continue // it is not shown in user mode
			}
			to = of
		}
		merged[to] = append(merged[to][:len(merged[to]):len(merged[to])], c...)
	}
	for _, c := range merged {
		slices.SortFunc(c, func(a, b span) int { return int(min(max(a.start-b.start, -1), 1)) })
		for i := 1; i < len(c); i++ {
			if c[i].start == c[i-1].start {
				return nil, errors.New("instructions: a function and its body have the same one")
			}
		}
	}
	return merged, nil
}
