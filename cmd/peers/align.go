package main

// frameMatch says which recorded frame a frame in machine mode was made from.
type frameMatch struct {
	raw    int    // index into stack.raw; -1: a rule inserted the frame
	reason string // the rule that inserted the frame
}

// follow finds out what the rules did to a recorded stack: from which recorded frame each frame in
// machine mode was made, and which rule dropped each of the other recorded frames ("" if none
// explains it).
func follow(s *stack) (frames []frameMatch, dropped map[int]string) {
	dropped = map[int]string{}
	next := 0
	for m, f := range s.machine {
		at := next
		for at < len(s.raw) && !same(s.raw[at], f) {
			at++
		}
		if at == len(s.raw) || putIn(s, next, at, m) {
			frames = append(frames, frameMatch{-1, f.rule})
			continue
		}
		for ; next < at; next++ {
			dropped[next] = dropper(s, next, m)
		}
		frames = append(frames, frameMatch{raw: at})
		next = at + 1
	}
	for ; next < len(s.raw); next++ {
		dropped[next] = dropper(s, next, len(s.machine))
	}
	return frames, dropped
}

// same reports whether a frame was made from a recorded one: it is at the same address, or at the
// call before that address (S21).
func same(r rawFrame, f frame) bool {
	return r.object == f.object && (r.offset == f.offset || r.offset-1 == f.offset)
}

// putIn reports whether a rule inserted machine frame m, although it is the same as recorded frame
// `at`. That is so if between `next` and `at` there is a frame that no rule drops.
func putIn(s *stack, next, at, m int) bool {
	switch s.machine[m].rule {
	case "":
		return false
	case "S12", "S18", "S22 inferred", "S22 missing":
		return true
	}
	for i := next; i < at; i++ {
		if dropper(s, i, m) == "" {
			return true
		}
	}
	return false
}

// dropper returns the rule that dropped recorded frame i, before machine frame m. It was a leaf in
// the procedure linkage table (S22), or the dynamic linker or that table, while the linker bound a
// call (S23).
func dropper(s *stack, i, m int) string {
	user := 0
	for user < len(s.raw) && s.raw[user].kernel() {
		user++
	}
	switch {
	case i == user && s.raw[i].function.kind == "plt":
		return "S22"
	case m < len(s.machine) && s.machine[m].rule == "S23", m > 0 && s.machine[m-1].rule == "S23":
		return "S23"
	}
	return ""
}
