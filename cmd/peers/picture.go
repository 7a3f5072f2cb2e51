package main

import (
	"fmt"
	"strings"

	"stackmill/cmd/acceptance/perftext"
)

// pictures returns text about a sample: the frames of all stacks around frame n, the first that
// differs.
func pictures(s *stack, chain []perftext.Frame, n int) string {
	const around = 4
	var b strings.Builder
	fmt.Fprintf(&b, "      recorded stack %d %s, see frame %d\n", s.id, s.reason, n)
	show := func(title string, length int, frame func(i int) string) {
		for i := max(0, n-around); i < min(length, n+around); i++ {
			fmt.Fprintf(&b, "        %-9s %2d %s\n", title, i, frame(i))
		}
	}
	show("recorded", len(s.raw), func(i int) string {
		f := s.raw[i]
		return fmt.Sprintf("%x %s (%s+%x)", f.word, f.function.name, f.object, f.offset)
	})
	show("machine", len(s.machine), func(i int) string {
		f := s.machine[i]
		return fmt.Sprintf("%s (%s+%x) %s", f.function.name, f.object, f.offset, f.rule)
	})
	show("perf", len(chain), func(i int) string {
		f := chain[i]
		return fmt.Sprintf("%x %s+%x (%s)", f.Address, f.Symbol, f.Offset, f.Object)
	})
	return b.String()
}
