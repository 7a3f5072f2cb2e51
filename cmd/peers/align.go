package main

// frameMatch pairs a frame of a stack in machine mode with the recorded frame that it
// represents.
type frameMatch struct {
	raw    int    // -1: a rule put the frame in
	reason string // the rule that did
}

// follow finds the effect of the rules on a recorded stack: for each frame in machine mode its
// recorded frame, and for each recorded frame that is missing the rule that dropped it, empty if
// none explains it.
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

// same reports whether a frame is a recorded one: at its address, or at the call
// before that (S21).
func same(r rawFrame, f frame) bool {
	return r.object == f.object && (r.offset == f.offset || r.offset-1 == f.offset)
}

// putIn reports whether a rule put machine frame m in, although the recorded frame
// at is the same: it would have to drop frames between that no rule drops.
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

// dropper names the rule that took recorded frame i away, before machine frame m:
// a leaf in the procedure linkage table (S22), or the dynamic linker and the table
// while a call is bound (S23).
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
