package prove

import (
	"errors"
	"fmt"
	"slices"

	"stackmill/schema"
)

// facts are those of a batch's rows of a table, and where in rows of the table they belong.
type facts struct {
	rows   rows
	of     []int // by column of the table: the column of rows, -1 if it is not of the facts
	number int   // the column of the table that says which facts a row has
}

// errFacts says that the facts of a row are missing.
var errFacts = errors.New("there are no such facts")

// has reports whether a column of the table is of the facts.
func (f *facts) has(column int) bool { return f != nil && f.of[column] >= 0 }

// withFacts opens the file of a table that has facts, which it reads from theirs: no more
// than fit in so many bytes.
func withFacts(path, factsPath string, t *schema.Table, columns []column, memory int64) (*cursor, error) {
	columns = append(slices.Clone(columns), column{name: schema.FactNumber, of: hashed})
	own, err := open(path, t, columns)
	if err != nil {
		return nil, err
	}
	f := &facts{of: make([]int, len(columns)), number: len(columns) - 1}
	read := []column{{name: schema.ListedIn, of: hashed}, {name: schema.FactNumber, of: hashed}}
	for i, c := range columns {
		if f.of[i] = -1; !t.Own.Has(c.name) {
			f.of[i] = len(read)
			read = append(read, c)
		}
	}
	if f.rows, err = all(factsPath, t.Facts, read, memory); err != nil {
		return nil, errors.Join(err, own.close())
	}
	for i, n := range f.rows.values[1] {
		if n != int64(i) {
			return nil, errors.Join(fmt.Errorf("%s: not numbered", t.Facts.Name), own.close())
		}
	}
	own.facts = f
	return own, nil
}

// all reads the rows of a table, no more than fit in so many bytes.
func all(path string, t *schema.Table, columns []column, memory int64) (rows, error) {
	into := newRows(t, columns)
	c, err := open(path, t, columns)
	if err != nil {
		return into, err
	}
	defer c.close()
	for {
		done, err := c.done()
		if done || err != nil {
			return into, err
		}
		if int64(8*len(columns)*(into.n+c.block.n)) > memory {
			return into, errors.New("more rows than fit in memory")
		}
		if err := c.take(c.block.values[0][c.at], &into, into.n+c.block.n); err != nil {
			return into, err
		}
	}
}

// fill puts facts into the columns of n rows that have their numbers.
func (f *facts) fill(block *rows, n int) error {
	if f == nil {
		return nil
	}
	numbers := block.values[f.number][:n]
	for _, number := range numbers {
		if number < 0 || number >= int64(f.rows.n) {
			return fmt.Errorf("%w: number %d", errFacts, number)
		}
	}
	for i, from := range f.of {
		if from < 0 {
			continue
		}
		fillFrom(&block.values[i], f.rows.values[from], numbers)
		if block.missing[i] != nil {
			fillFrom(&block.missing[i], f.rows.missing[from], numbers)
		}
		if block.texts[i] != nil {
			fillFrom(&block.texts[i], f.rows.texts[from], numbers)
		}
	}
	return nil
}

// fillFrom replaces values by those with some numbers.
func fillFrom[T any](values *[]T, from []T, numbers []int64) {
	*values = sized(*values, len(numbers))
	for i, n := range numbers {
		(*values)[i] = from[n]
	}
}
