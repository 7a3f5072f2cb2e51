// Package listing numbers lists that experiments of a batch share: the instructions of a function,
// the lines of a source file. A batch stores each list once, under its number, and each experiment
// refers to it.
//
// The tables fit together as follows. The rows of `instructions` and `source_lines` begin with
// `listed_in` (the batch's name, filled in on commit) and `listing` (the number of the list).
// `listings` (for functions) and `source_files` have a row for each experiment and list; views join
// them by the same two columns. Both kinds of lists share one sequence of numbers. In each batch,
// the first row that refers to a list has its `content`, a hash. When batches are merged, equal
// lists are found by it: Numbering numbers them in the order of the merged rows. A list stays when
// the experiment that added it is deleted.
package listing

import (
	"sync"
)

// Numbering numbers the lists of a batch in the order in which they first occur. Lists are
// identified by content, a hash.
type Numbering struct{ numbers map[int64]int32 }

// Intern returns the number of a list; first says that the list is new and its rows must be stored.
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

// Registry numbers the lists of a batch while experiments are added to it, one after the other.
type Registry struct {
	mu      sync.Mutex
	numbers map[int64]int32
}

// NewRegistry returns the registry of a new batch.
func NewRegistry() *Registry { return &Registry{numbers: map[int64]int32{}} }

// Draft holds the lists that one experiment adds to a registry. Commit adds them to the batch; the
// draft of a failed experiment is dropped. A registry may have several drafts, because an
// experiment that was given up may still be using its own.
type Draft struct {
	registry *Registry
	base     int32 // number of the draft's first own list
	own      Numbering
}

// Begin returns a draft for an experiment. Its new lists get the numbers after the committed ones.
func (b *Registry) Begin() *Draft {
	b.mu.Lock()
	defer b.mu.Unlock()
	return &Draft{registry: b, base: int32(len(b.numbers))}
}

// Intern returns the number that a list has once this draft is committed (see Numbering.Intern).
func (d *Draft) Intern(content int64) (number int32, first bool) {
	if number, known := d.committed(content); known {
		return number, false
	}
	number, first = d.own.Intern(content)
	return d.base + number, first
}

// IsCommitted reports whether a list was committed before the draft began. Unlike the other
// methods, it may be called concurrently.
func (d *Draft) IsCommitted(content int64) bool {
	_, known := d.committed(content)
	return known
}

// committed returns the number of a list that was committed before the draft began.
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
