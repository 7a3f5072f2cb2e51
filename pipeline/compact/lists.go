package compact

import (
	"context"
	"fmt"

	"stackmill/schema"
)

// Column names. The lists of a batch (package listing) are rows of shared tables; the rows of links
// say which experiment uses which list.
const (
	listedIn    = "listed_in"
	listNumber  = "listing"
	listContent = "content"
)

// isShared reports whether the experiments of a batch share the rows of a table.
func isShared(t *schema.Table) bool { return t.Columns[0].Name == listedIn }

// isLink reports whether a table links experiments to shared rows.
func isLink(t *schema.Table) bool { return t.Has(listedIn) && !isShared(t) }

// lists numbers the lists of the new batch (package listing). A list that several of the merged
// batches have is stored once. Lists are identified by the hash of their content.
type lists struct {
	contents []map[int32]int64 // for each batch: number of a list there -> hash of its content
	owners   map[int64]int     // hash of a list -> index of the first batch that has the list
	numbers  map[int64]int32   // hash of a list -> its number in the new batch: lists are numbered in the order of the rows that refer to them
}

// findLists fills m.lists with the lists of all batches.
func (m *merge) findLists(ctx context.Context) error {
	m.lists = lists{owners: map[int64]int{}, numbers: map[int64]int32{}}
	for range m.batches {
		m.lists.contents = append(m.lists.contents, map[int32]int64{})
	}
	for _, t := range schema.Tables {
		if !isLink(t) {
			continue
		}
		for _, f := range m.files(t) {
			if err := m.lists.read(ctx, m.Store, t, f); err != nil {
				return &sourceError{f, err}
			}
		}
	}
	return nil
}

// read adds the lists that a file of a link table refers to.
func (l *lists) read(ctx context.Context, store string, t *schema.Table, f source) error {
	r, err := open(ctx, store, f, t, make([]texts, len(t.Columns)), schema.BatchRows)
	if err != nil {
		return err
	}
	defer r.close()
	number, content := t.Index(listNumber), t.Index(listContent)
	for {
		rows, err := r.read()
		if err != nil || rows == nil {
			return err
		}
		for i, n := range rows.columns[number].narrow {
			c := &rows.columns[content]
			if c.valid != nil && !c.valid[i] {
				continue
			}
			l.contents[f.batch][n] = c.wide[i]
			if _, known := l.owners[c.wide[i]]; !known {
				l.owners[c.wide[i]] = f.batch
			}
		}
	}
}

// resolve translates the numbers of lists in rows that were read from a batch. In rows of a link,
// it fills in the content's hash. In shared rows, it sets the new number: -1 drops the row, because
// the list is unused, or stored from another batch.
func (l *lists) resolve(t *schema.Table, batch int, rows *rows) error {
	number := &rows.columns[t.Index(listNumber)]
	contents := make([]int64, rows.n)
	for i, n := range number.narrow {
		c, known := l.contents[batch][n]
		if !known {
			return fmt.Errorf("list %d has no content", n)
		}
		contents[i] = c
	}
	if isLink(t) {
		rows.columns[t.Index(listContent)] = column{wide: contents}
		return nil
	}
	number.narrow = make([]int32, rows.n)
	for i, c := range contents {
		if n, used := l.numbers[c]; used && l.owners[c] == batch {
			number.narrow[i] = n
		} else {
			number.narrow[i] = -1
		}
	}
	return nil
}

// number sets the new numbers of lists in rows of a link, which are about to be written.
func (l *lists) number(t *schema.Table, rows *rows) {
	number, content := &rows.columns[t.Index(listNumber)], &rows.columns[t.Index(listContent)]
	content.valid = make([]bool, rows.n)
	for i, c := range content.wide {
		n, known := l.numbers[c]
		if !known {
			n = int32(len(l.numbers))
			l.numbers[c] = n
		}
		number.narrow[i], content.valid[i] = n, !known
	}
}
