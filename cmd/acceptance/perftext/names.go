package perftext

import (
	"regexp"
	"strings"
)

// body matches the name of the body of a parallel region (S11). It ends with the name that the
// compiler gave it.
var body = regexp.MustCompile(` -- OMP .* \[(.*)\]$`)

// Bare shortens the name of a function as perf does: without parameters and added marks.
func Bare(name string) string {
	if m := body.FindStringSubmatch(name); m != nil {
		return m[1]
	}
	name, _, _ = strings.Cut(name, " [clone ")
	name = strings.TrimSuffix(name, " const")
	if !strings.HasSuffix(name, ")") {
		return name
	}
	depth := 0
	for i := len(name) - 1; i >= 0; i-- {
		switch name[i] {
		case ')':
			depth++
		case '(':
			if depth--; depth == 0 {
				return name[:i]
			}
		}
	}
	return name
}
