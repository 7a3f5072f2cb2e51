package verify

import (
	"errors"
	"fmt"
	"slices"

	"stackmill/schema"
)

// list identifies a list (package listing): by the hash of `listed_in`, and the list's number.
type list struct{ in, number int64 }

// lists holds the lists of a batch, which its experiments share.
type lists struct {
	code map[list]code
	text map[list]bool // which source files have text
}

var errDisorder = errors.New("rows of lists are out of order")

func (p *batch) shared() (*lists, error) {
	l := &lists{map[list]code{}, map[list]bool{}}
	left := p.memory / 16
	err := p.eachList(schema.Instructions, func(k list, first bool, v []int64) error {
		if left--; left < 0 {
			return errors.New("more rows than fit in memory")
		}
		c := l.code[k]
		next := span{v[0], v[0] + v[1]}
		if n := len(c); first != (n == 0) || n > 0 && (c[n-1].end > next.start || c[n-1].start >= next.start) {
			return errDisorder
		}
		l.code[k] = append(c, next)
		return nil
	})
	if err != nil {
		return nil, err
	}
	var last int64
	err = p.eachList(schema.SourceLines, func(k list, first bool, v []int64) error {
		if first == l.text[k] || !first && v[0] <= last {
			return errDisorder
		}
		l.text[k], last = true, v[0]
		return nil
	})
	return l, err
}

// eachList calls f for each row of a shared table: with the row's list, whether it is the first row
// of that list, and the values of the other columns.
func (p *batch) eachList(t *schema.Table, f func(k list, first bool, values []int64) error) error {
	c := p.cursors[t.Name]
	if c == nil {
		return nil
	}
	var last list
	values := make([]int64, len(c.columns)-2)
	for started := false; ; {
		done, err := c.done()
		if done || err != nil {
			return err
		}
		for v := c.block.values; c.at < c.block.n; c.at++ {
			k := list{v[0][c.at], v[1][c.at]}
			for i := range values {
				values[i] = v[2+i][c.at]
			}
			if err := f(k, !started || k != last, values); err != nil {
				return fmt.Errorf("%s: %w", t.Name, err)
			}
			started, last = true, k
		}
	}
}

func (x *experiment) listOf(t *schema.Table, row int) list {
	return list{x.col(t, schema.ListedIn)[row], x.col(t, "listing")[row]}
}

// checkSources checks that every source file that was found has text.
func (x *experiment) checkSources() error {
	for i := range x.len(schema.SourceFiles) {
		if !x.lists.text[x.listOf(schema.SourceFiles, i)] {
			return errors.New("source_files: a file has no lines")
		}
	}
	return nil
}

// code has the address ranges of a function's known instructions, sorted.
type code []span

type span struct{ start, end int64 }

// codes returns the instructions of each function, by the function's row. They do not overlap.
func (x *experiment) codes() (map[int32]code, error) {
	t := schema.Listings
	all := map[int32]code{}
	for i, no := range x.col(t, "function_no") {
		f, err := x.function(no)
		if err != nil {
			return nil, err
		}
		c, known := x.lists.code[x.listOf(t, i)]
		if !known {
			return nil, errors.New("listings: a function has no instructions")
		}
		all[f] = c
	}
	return all, nil
}

// checkCode checks that each PC with a value is the start of a known instruction, if its function's
// code is known.
func (x *experiment) checkCode() error {
	plain, err := x.codes()
	if err != nil {
		return err
	}
	merged, err := x.withBodies(plain)
	if err != nil {
		return err
	}
	t := schema.Locations
	starts, exact, offset, reason := x.col(t, "instruction"), x.missing(t, "instruction"), x.col(t, "offset"), x.col(t, "reason")
	valued, bits := make([]int64, len(x.location)), x.modes(schema.PCValues)
	for i, l := range x.col(schema.PCValues, "location") {
		valued[l] |= bits[i]
	}
	for i := range x.location {
		if reason[i] != none {
			continue
		}
		at := offset[i]
		if !exact[i] {
			at = starts[i]
		}
		for m, codes := range [modes]map[int32]code{merged, plain, plain} {
			c := codes[x.location[i].function]
			if valued[i]>>m&1 == 0 {
				continue
			}
			_, found := slices.BinarySearchFunc(c, at, func(s span, at int64) int { return int(min(max(s.start-at, -1), 1)) })
			if len(c) > 0 && !found {
				return errors.New("instructions: a PC has a value, but no instruction starts there")
			}
		}
	}
	return nil
}

// withBodies returns the code of functions as user mode shows it: the code of the body of a
// parallel region belongs to the function that contains the region.
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
				continue // user mode does not show it
			}
			to = of
		}
		merged[to] = append(merged[to][:len(merged[to]):len(merged[to])], c...)
	}
	for _, c := range merged {
		slices.SortFunc(c, func(a, b span) int { return int(min(max(a.start-b.start, -1), 1)) })
		for i := 1; i < len(c); i++ {
			if c[i].start == c[i-1].start {
				return nil, errors.New("instructions: a function and its body have the same instruction")
			}
		}
	}
	return merged, nil
}
