// Package lazyregexp compiles regular expressions on first use: a run of the program uses few of
// them, and compiling all would take up to a tenth of its start-up time.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns a function that returns the compiled expression. Its first call panics if the
// expression is wrong.
func New(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
