package main

// frameMatch pairs a frame of a stack in machine mode with the recorded frame that it
// represents.
type frameMatch struct {
	raw    int    // -1: a rule inserted the frame
	reason string // that rule
}

// follow finds the effect of the rules on a recorded stack: the recorded frame of each frame in
// machine mode, and the rule that dropped each missing recorded frame, empty if none explains it.
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

// same reports whether a frame is a recorded one: at the same address, or at the call before it
// (S21).
func same(r rawFrame, f frame) bool {
	return r.object == f.object && (r.offset == f.offset || r.offset-1 == f.offset)
}

// putIn reports whether a rule inserted machine frame m, although recorded frame at is the same: to
// match them, frames in between must be dropped, and no rule drops these.
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

// dropper names the rule that dropped recorded frame i, before machine frame m: it is a leaf in the
// procedure linkage table (S22), or the dynamic linker or the table while a call is bound (S23).
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
