package unwind

import (
	"stackmill/schema"
	"stackmill/stages/program"
)

// body folds the bodies of parallel regions on a user stack into the functions
// they were made from (S11): the frame keeps its instruction and line, its
// function becomes the main one. The body of a region around it, and the call by
// which the main function entered the outermost, are one frame with it.
//
//	before: row <- f._omp_fn.0 <- GOMP_parallel <- f <- main
//	after:  row <- f <- main
func (u *Unwinder) body(frames []Frame) []Frame {
	kept := frames[:0]
	region := program.FunctionNo(program.None) // the main function of the body that was kept last
	for _, f := range frames {
		function := u.resolver.Program.Location(f.Location).Function
		folded, isBody := u.resolver.Fold(f.Location)
		if isBody {
			f.Location, f.Rule, f.traits = folded, schema.RuleBody, 0
			function = u.resolver.Program.Location(folded).Function
		}
		inner := region
		if region = program.None; isBody {
			region = function
		}
		if inner != function {
			kept = append(kept, f)
		} else {
			u.hiddenBy[f.Place] = schema.RuleBody
		}
	}
	return kept
}
