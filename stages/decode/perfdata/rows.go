package perfdata

import (
	"iter"
	"math"
	"slices"

	"stackmill/schema"
)

// row is a sample of a process, or the part of one that belongs to one event of
// a group.
type row struct {
	at    place
	stack int32 // in its process, or stands for a dump
	event int32
}

// rows are a process's, in the order of time, in pieces of one batch each: one
// long list would be copied whenever it grows.
type rows struct {
	batches []rowBatch
	n       int
}

type rowBatch struct {
	rows []row
	// periods are what the rows count, or asRecorded; nil when all are.
	periods []uint64
}

// asRecorded is the period of a row that counts what its sample says.
const asRecorded = math.MaxUint64

// add adds a row, and what it counts.
func (l *rows) add(r row, period uint64) {
	if l.n%schema.BatchRows == 0 {
		l.batches = append(l.batches, rowBatch{})
	}
	b := &l.batches[len(l.batches)-1]
	if b.periods == nil && period != asRecorded {
		b.periods = slices.Repeat([]uint64{asRecorded}, len(b.rows))
	}
	if b.rows = append(b.rows, r); b.periods != nil {
		b.periods = append(b.periods, period)
	}
	l.n++
}

// all iterates over the rows.
func (l *rows) all() iter.Seq[*row] {
	return func(yield func(*row) bool) {
		for _, b := range l.batches {
			for i := range b.rows {
				if !yield(&b.rows[i]) {
					return
				}
			}
		}
	}
}

// without takes out the rows of some events, and returns how many there were.
func (l *rows) without(events map[int32]bool) (n int64) {
	var kept rows
	for _, b := range l.batches {
		for i, row := range b.rows {
			period := uint64(asRecorded)
			if b.periods != nil {
				period = b.periods[i]
			}
			if events[row.event] {
				n++
			} else {
				kept.add(row, period)
			}
		}
	}
	*l = kept
	return n
}
