// Package code emits machine code and source text: the instructions of functions with values,
// and the text of files with values.
package code

import (
	"errors"

	"stackmill/stages/attribute"
	"stackmill/stages/listing"
	"stackmill/stages/program"
	"stackmill/stages/symbolize"
)

// Result adds the sources of code to the results of reading a recording's samples.
type Result struct {
	*attribute.Result
	Accessed     []program.LocationNo           // the instructions that accessed data objects, with repetitions
	Disassembler func() *symbolize.Disassembler // of the program
	Sources      Sources
	Lists        *listing.Draft // that the experiment may share with others of its batch
}

// CodeRows emits the locations and instructions. If not all functions are disassembled as a
// whole, the first ranked ones are.
func (r *Result) CodeRows(emit attribute.Emit, ranked []program.FunctionNo) error {
	starts, err := r.instructionRows(emit, ranked)
	return errors.Join(err, r.LocationRows(emit, func(l *program.Location) (uint64, bool) {
		if l.Reason != "" {
			return 0, false
		}
		start, ok := starts[placeOf(r.Program, l.Function, l.Offset)]
		return start, ok
	}))
}
