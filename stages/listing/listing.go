// Package listing numbers the lists that experiments of a batch share: the instructions of a
// function, the lines of a source file. A batch stores each list once, under its number, and
// each experiment refers to it.
//
// The tables fit together as follows. The rows of `instructions` and `source_lines` begin with
// `listed_in`, the batch's name, which is filled in on commit, and `listing`, the number of the
// list. `listings` (for functions) and `source_files` have a row for each experiment and list,
// with the same two columns, by which views join them. Both kinds of lists have numbers of one
// sequence. The first row of a batch that refers to a list has its `content`, a hash: merging
// batches finds equal lists by it, with Numbering over the rows of the new batch in their order.
// A list stays when the first experiment that had it is deleted.
package listing

import (
	"sync"
)

// Numbering numbers the lists of a batch by their content.
type Numbering struct{ numbers map[int64]int32 }

// Intern returns the number of a list; first says that it is new, so that its rows must be
// stored.
func (n *Numbering) Intern(content int64) (number int32, first bool) {
	number, known := n.numbers[content]
	if !known {
		if n.numbers == nil {
			n.numbers = map[int64]int32{}
		}
		number = int32(len(n.numbers))
		n.numbers[content] = number
	}
	return number, !known
}

// Registry numbers the lists of a batch to which experiments are added one after the other.
type Registry struct {
	mu      sync.Mutex
	numbers map[int64]int32
}

// NewRegistry returns the registry of a new batch.
func NewRegistry() *Registry { return &Registry{numbers: map[int64]int32{}} }

// Draft holds the lists that one experiment adds to a registry. They are in the batch once
// the draft is committed; a draft of an experiment that fails is dropped. Several drafts of a
// registry may be in use, of experiments that were given up.
type Draft struct {
	registry *Registry
	base     int32 // the number of its first own list
	own      Numbering
}

// Begin returns the draft of an experiment, after all committed ones.
func (b *Registry) Begin() *Draft {
	b.mu.Lock()
	defer b.mu.Unlock()
	return &Draft{registry: b, base: int32(len(b.numbers))}
}

// Intern is Numbering.Intern for the batch, provided that the draft is committed.
func (d *Draft) Intern(content int64) (number int32, first bool) {
	if number, known := d.committed(content); known {
		return number, false
	}
	number, first = d.own.Intern(content)
	return d.base + number, first
}

// IsCommitted reports whether an experiment committed before the draft began has a list. Unlike
// the other methods, it may be called concurrently.
func (d *Draft) IsCommitted(content int64) bool {
	_, known := d.committed(content)
	return known
}

// committed returns the number of a list that the batch had when the draft began.
func (d *Draft) committed(content int64) (number int32, known bool) {
	d.registry.mu.Lock()
	defer d.registry.mu.Unlock()
	number, known = d.registry.numbers[content]
	return number, known && number < d.base
}

// Commit adds the draft's lists to the registry. No other draft may have been committed since
// this one began.
func (d *Draft) Commit() {
	d.registry.mu.Lock()
	defer d.registry.mu.Unlock()
	for content, number := range d.own.numbers {
		d.registry.numbers[content] = d.base + number
	}
}
