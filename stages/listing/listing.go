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
