package listing

import "sync"

// Book has the lists of a batch that is being made of one experiment after the other.
type Book struct {
	mu      sync.Mutex
	numbers map[int64]int32
}

// NewBook returns the book of a new batch.
func NewBook() *Book { return &Book{numbers: map[int64]int32{}} }

// Draft is what one experiment adds to a book. It counts once it is kept, and is to be
// dropped if the experiment does not come into the batch. Drafts of one book may be used
// at once: those of experiments that were given up.
type Draft struct {
	book *Book
	base int32 // the number of the first list that is new
	own  Numbers
}

// Begin begins what an experiment adds to what was kept.
func (b *Book) Begin() *Draft {
	b.mu.Lock()
	defer b.mu.Unlock()
	return &Draft{book: b, base: int32(len(b.numbers))}
}

// Number is Numbers.Number for the batch, if the draft is kept.
func (d *Draft) Number(content int64) (number int32, first bool) {
	if number, known := d.before(content); known {
		return number, false
	}
	number, first = d.own.Number(content)
	return d.base + number, first
}

// Earlier reports whether an experiment that was kept before the draft began has a list.
// Unlike the other methods it may be called by several goroutines.
func (d *Draft) Earlier(content int64) bool {
	_, known := d.before(content)
	return known
}

// before returns the number of a list that the batch had when the draft was begun.
func (d *Draft) before(content int64) (number int32, known bool) {
	d.book.mu.Lock()
	defer d.book.mu.Unlock()
	number, known = d.book.numbers[content]
	return number, known && number < d.base
}

// Keep makes the draft count. Nothing else was kept since it was begun.
func (d *Draft) Keep() {
	d.book.mu.Lock()
	defer d.book.mu.Unlock()
	for content, number := range d.own.numbers {
		d.book.numbers[content] = d.base + number
	}
}
