package verify

import (
	"errors"
	"fmt"

	"stackmill/schema"
)

// list identifies a list that the experiments of a batch share: by the hash of `listed_in`, and a
// number.
type list struct{ in, number int64 }

// lists are the lists that the experiments of a batch share.
type lists struct {
	code map[list]code
	text map[list]bool // which source files have text
}

var errDisorder = errors.New("rows of lists are not in their order")

// shared reads the lists of the batch.
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

// eachList calls f for the rows of a shared table, with their list, whether the row is the list's
// first, and the other columns.
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

// listOf returns the list that a row of a table names.
func (x *experiment) listOf(t *schema.Table, row int) list {
	return list{x.col(t, schema.ListedIn)[row], x.col(t, "listing")[row]}
}

// checkSources checks that every source file that was found has text.
func (x *experiment) checkSources() error {
	for i := range x.len(schema.SourceFiles) {
		if !x.lists.text[x.listOf(schema.SourceFiles, i)] {
			return errors.New("source_files: one without lines")
		}
	}
	return nil
}
