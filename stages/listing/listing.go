// Package listing numbers what the experiments of a batch share: the instructions of a
// function, the lines of a source file. Each such list is stored once in the batch, under
// its number, and each experiment that has it refers to it.
//
// How the tables fit together: the rows of `instructions` and `source_lines` begin with
// `listed_in`, the batch's name, which the file gets when it is known, and
// `listing`, the number of their list. `listings` (for functions) and `source_files` have
// a row for each experiment's own name of a list, with the same two columns, so that a
// view joins them by these. Both tables number from one count. The first row of a batch
// that names a list has its `content`, a hash, by which whoever merges batches finds
// lists that several have: with Numbers over the rows of the new batch, in their order. A
// list stays when the experiment that was the first to have it no longer counts.
package listing

// Numbers are those of a batch's lists, by their content.
type Numbers struct{ numbers map[int64]int32 }

// Number returns the number of a list; first says that it is new, so that its rows are to
// be stored.
func (n *Numbers) Number(content int64) (number int32, first bool) {
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
