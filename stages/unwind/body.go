package unwind

import (
	"stackmill/schema"
	"stackmill/stages/program"
)

// foldBodies folds the bodies of parallel regions on a user stack into the main functions that
// contain the regions (S11): a body's frame keeps its instruction and line, but gets the main
// function. It drops the bodies of enclosing regions, and the frame in which the main function
// called the outermost body.
//
//	before: row <- f._omp_fn.0 <- GOMP_parallel <- f <- main
//	after:  row <- f <- main
func (u *Unwinder) foldBodies(frames []Frame) []Frame {
	folded := frames[:0]
	region := program.FunctionNo(program.None) // the main function, if the frame above is a body
	for _, f := range frames {
		function := u.resolver.Program.Location(f.Location).Function
		main, isBody := u.resolver.Fold(f.Location)
		if isBody {
			f.Location, f.Rule, f.traits = main, schema.RuleBody, 0
			function = u.resolver.Program.Location(main).Function
		}
		inner := region
		if region = program.None; isBody {
			region = function
		}
		if inner != function {
			folded = append(folded, f)
		} else {
			u.hiddenBy[f.MachineIndex] = schema.RuleBody
		}
	}
	return folded
}
