// Package code lists machine code and source text: the instructions of functions with values,
// and the lines of the files in which there are values.
package code

import (
	"errors"

	"stackmill/stages/attribute"
	"stackmill/stages/listing"
	"stackmill/stages/program"
	"stackmill/stages/symbolize"
)

// Result is what is known of a recording once its samples were read, and where its code is.
type Result struct {
	*attribute.Result
	Accessed     []program.LocationNo           // the instructions that accessed data objects, with repetitions
	Disassembler func() *symbolize.Disassembler // of the program
	Sources      Sources
	Lists        *listing.Draft // what the experiment shares with others of its batch
}

// CodeRows emits the tables of instructions, those of the first functions foremost.
func (r *Result) CodeRows(emit attribute.Emit, ranked []program.FunctionNo) error {
	meant, err := r.instructions(emit, ranked)
	return errors.Join(err, r.LocationRows(emit, func(l *program.Location) (uint64, bool) {
		if l.Reason != "" {
			return 0, false
		}
		start, ok := meant[spotOf(r.Program, l.Function, l.Offset)]
		return start, ok
	}))
}
