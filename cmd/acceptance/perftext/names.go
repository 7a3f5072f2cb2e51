package perftext

import (
	"regexp"
	"strings"
)

// body matches the names of bodies of parallel regions (S11), which end with the compiler's name.
var body = regexp.MustCompile(` -- OMP .* \[(.*)\]$`)

// Bare shortens a function's display name as perf does: without parameters and marks.
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
