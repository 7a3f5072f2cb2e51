package main

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

const (
	missingCaller  = "<Missing-caller>"
	truncatedStack = "<Truncated-stack>"
)

// goArguments matches type arguments in Go symbols. Go's runtime writes [...] for them.
var goArguments = regexp.MustCompile(`\[.*\]`)

// goWrapper matches the names of functions that Go's compiler or runtime inserts to call another
// function. The runtime does not show them in stacks.
var goWrapper = regexp.MustCompile(`(-fm|\.deferwrap[0-9]+|\.gowrap[0-9]+|^runtime\.deferreturn)$`)

// parameters matches the parameter list of a C++ function.
var parameters = regexp.MustCompile(`\([^)]*\)`)

// matcher compares stacks of a recording with the program's log (the truth).
type matcher struct {
	build *build
	mode  int
	known map[string]bool // names of the functions in the truth
	// ids maps a function in the truth to its id in the store, and keys maps back.
	ids  map[string]int64
	keys map[int64]string
}

// place is an expected frame: a function of the program, followed by the functions inlined there. A
// nil place stands for any number of frames of other functions.
type place []element

// places returns the frames that a mode should show for a logged stack, the root first. If the
// stack is marked as cut, it may also begin at any place up to list[cut].
func (m *matcher) places(t *touch) (list []place, cut int) {
	list = []place{nil}
	for _, e := range t.path {
		switch e.kind {
		case '*':
			// Library functions may be inlined in the program's function that calls them.
			if last := len(list) - 1; list[last] != nil {
				list[last] = append(list[last], e)
			}
			list = append(list, nil)
		case '?':
			list = append(list, nil)
			cut = len(list) - 1
		case 'r':
			// The callers so far do not belong to this stack, but frame pointers may lead to them.
			if cut = len(list); m.gaps() {
				list = append(list, nil)
			} else {
				list, cut = []place{nil}, 0
			}
		case 'i':
			last := len(list) - 1
			list[last] = append(list[last], e)
		case 'b':
			// In user mode, the body of a parallel region, the runtime and the function that calls
			// the region are one frame (S11).
			if modes[m.mode] == "user" {
				for len(list) > 1 && list[len(list)-1] == nil {
					list = list[:len(list)-1]
				}
				if n := len(list) - 1; n > 0 && list[n][0].function == e.function {
					list = list[:n]
				}
				if len(list) == 0 {
					list = []place{nil}
				}
			}
			list = append(list, place{e})
		default:
			list = append(list, place{e})
		}
	}
	return list, cut
}

// compare describes how a stack differs from the truth; "" if it does not.
func (m *matcher) compare(t *touch, s *stack, reason string) string {
	var frames []*frame
	for i := len(s.frames) - 1; i >= 0; i-- {
		frames = append(frames, s.frames[i])
	}
	list, cut := m.places(t)
	if m.build.chains == "none" {
		list = list[len(list)-1:]
	}
	if m.match(list, frames) {
		return ""
	}
	// A stack that is not complete must be marked as cut (S18).
	if m.gaps() {
		cut = len(list) - 1
	}
	for len(frames) > 1 && (frames[0].levels[0].function == truncatedStack || m.gaps() && frames[0].levels[0].function == "<Unknown>") {
		frames = frames[1:]
	}
	for i := range list[:cut+1] {
		if reason != "" && m.match(list[i:], frames) {
			return ""
		}
	}
	want := ""
	for _, p := range list {
		switch {
		case p == nil:
			want += "; *"
		default:
			want += "; " + p.text()
		}
	}
	return fmt.Sprintf("stack %s (%s)\n    want %s", s.text(), reason, want)
}

func (p place) text() (t string) {
	for i, e := range p {
		if i > 0 {
			t += " > "
		}
		t += fmt.Sprintf("%s:%s:%d", e.function, e.file, e.line)
	}
	return t
}

// match reports whether the frames, the root first, are those of the list.
func (m *matcher) match(list []place, frames []*frame) bool {
	switch {
	case len(list) == 0:
		return len(frames) == 0
	case list[0] == nil:
		// The place stands for any number of frames.
		if m.match(list[1:], frames) {
			return true
		}
		return len(frames) > 0 && m.others(frames[0]) && m.match(list, frames[1:])
	case len(frames) == 0:
		return false
	}
	f := frames[0]
	if f.rule == "S12" && len(frames) > 1 && strings.HasPrefix(frames[1].levels[0].function, f.levels[0].function+" [clone ") {
		return m.match(list, frames[1:]) // skip the call of an outlined part, which a rule inserted
	}
	if m.build.wrappers && isWrapper(frames) {
		return m.match(list, frames[1:])
	}
	if name := f.levels[0].function; m.gaps() && (name == missingCaller || name == truncatedStack) {
		// The frame stands for one or more places.
		return m.match(list[1:], frames) || m.match(list[1:], frames[1:])
	}
	return m.same(list[0], f) && m.match(list[1:], frames[1:])
}

// gaps reports whether a stack that is marked as cut may lack callers in its middle.
func (m *matcher) gaps() bool { return m.build.chains == "fp" || m.build.unwindless }

// isWrapper reports whether frames[0] is a function that Go's compiler made to call frames[1], for
// example a method of a pointer that calls the method of the value (`main.(*circle).draw`).
func isWrapper(frames []*frame) bool {
	name := frames[0].levels[0].function
	method := strings.NewReplacer("(*", "", ")", "").Replace(name)
	return goWrapper.MatchString(name) || len(frames) > 1 && method != name && frames[1].levels[0].function == method
}

// others reports whether the function of a frame is not one of the truth.
func (m *matcher) others(f *frame) bool {
	name := f.levels[0].function
	return !m.known[name] && (m.gaps() || name != missingCaller && name != truncatedStack)
}

// same reports whether a frame is the expected one.
func (m *matcher) same(p place, f *frame) bool {
	first, levels := f.levels[0], f.levels
	if last := len(p) - 1; p[last].kind == '*' {
		p = p[:last]
		for len(levels) > last && !m.known[levels[len(levels)-1].function] {
			levels = levels[:len(levels)-1]
		}
	}
	switch {
	case m.build.noLines && f.objectName == "prog":
		return len(f.levels) == 1 && m.named(p[0], first)
	case m.build.noCalls && len(p) > 1:
		return m.named(p[0], first) && (first.line == 0 || len(levels) == 1)
	case f.rule == "S22 inferred" && first.line == 0:
		return m.named(p[0], first)
	case len(p) != len(levels):
		return false
	}
	for i, e := range p {
		if !at(e, levels[i]) || !m.named(e, levels[i]) && !(m.build.bare && i > 0 && bareName(levels[i].function) == bareName(e.function)) {
			return false
		}
	}
	return true
}

// bareName returns the name of a Rust function without scopes and type arguments. All closures have
// the same bare name.
func bareName(name string) string {
	name, _, _ = strings.Cut(name, "@")
	if i := strings.LastIndex(name, "::"); i >= 0 && !strings.Contains(name[i:], ">") {
		name = name[i+2:]
	}
	if strings.Contains(name, "{closure") {
		return "{closure}"
	}
	name, _, _ = strings.Cut(name, "<")
	return name
}

func at(e element, l level) bool { return l.line == e.line && path.Base(l.file) == e.file }

// named reports whether a function of the store has the name of an element of the truth. It also
// checks that the element is the same function in all samples.
func (m *matcher) named(e element, l level) bool {
	name := l.function
	want, _, _ := strings.Cut(e.function, "@") // @ and what follows distinguish functions with the same name
	if m.build.noParams {
		name = strings.Replace(name, parameters.FindString(name), "", 1)
	}
	if strings.Contains(want, "[...]") {
		name = goArguments.ReplaceAllString(name, "[...]")
	}
	if e.kind == 'b' && modes[m.mode] != "user" {
		return strings.Contains(name, "OMP parallel region") || m.build.noNames && strings.HasPrefix(name, "<static>@")
	}
	if m.build.noNames && strings.HasPrefix(name, "<static>@") {
		return true
	}
	// A clone is a function of its own, with a mark in its name (S9).
	if before, _, isClone := strings.Cut(name, " [clone "); isClone {
		return before == want
	}
	if name != want {
		return false
	}
	key := e.function + " of " + e.file
	if id, seen := m.ids[key]; seen && id != l.id {
		return false
	}
	if k, seen := m.keys[l.id]; seen && k != key {
		return false
	}
	m.ids[key], m.keys[l.id] = l.id, key
	return true
}
