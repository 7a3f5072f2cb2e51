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

// goArguments matches type arguments in Go symbols, which Go's runtime abbreviates.
var goArguments = regexp.MustCompile(`\[.*\]`)

// goWrapper matches functions that Go's compiler and runtime insert to call others: the runtime
// does not show them.
var goWrapper = regexp.MustCompile(`(-fm|\.deferwrap[0-9]+|\.gowrap[0-9]+|^runtime\.deferreturn)$`)

// parameters matches the parameters of a C++ function.
var parameters = regexp.MustCompile(`\([^)]*\)`)

// matcher compares stacks of one recording with the truth.
type matcher struct {
	build *build
	mode  int
	known map[string]bool // the function names in the truth
	// ids and keys have the store's identifiers of the truth's functions.
	ids  map[string]int64
	keys map[int64]string
}

// place is an expected frame: a function of the program, with the functions inlined there.
type place []element

// places returns the expected frames of a path in a mode, root first; nil for frames outside the
// program's own functions. A stack that is marked as cut may begin at any frame up to list[cut].
func (m *matcher) places(t *touch) (list []place, cut int) {
	list = []place{nil}
	for _, e := range t.path {
		switch e.kind {
		case '*':
			// Library functions may be inlined in the function that calls them.
			if last := len(list) - 1; list[last] != nil {
				list[last] = append(list[last], e)
			}
			list = append(list, nil)
		case '?':
			list = append(list, nil)
			cut = len(list) - 1
		case 'r':
			// Frame pointers lead at least to the function that set up the stack.
			if cut = len(list); m.gaps() {
				list = append(list, nil)
			} else {
				list, cut = []place{nil}, 0
			}
		case 'i':
			last := len(list) - 1
			list[last] = append(list[last], e)
		case 'b':
			// In user mode the body, the runtime and the call of the region are one frame (S11).
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

// compare describes how a stack differs from the truth; empty if it does not.
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
	// An incomplete stack must be marked as cut (S18).
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

// match reports whether frames, root first, match the places.
func (m *matcher) match(list []place, frames []*frame) bool {
	switch {
	case len(list) == 0:
		return len(frames) == 0
	case list[0] == nil:
		// Any number of frames outside the program's functions.
		if m.match(list[1:], frames) {
			return true
		}
		return len(frames) > 0 && m.others(frames[0]) && m.match(list, frames[1:])
	case len(frames) == 0:
		return false
	}
	f := frames[0]
	if f.rule == "S12" && len(frames) > 1 && strings.HasPrefix(frames[1].levels[0].function, f.levels[0].function+" [clone ") {
		return m.match(list, frames[1:]) // the artificial call of an outline function
	}
	if m.build.wrappers && isWrapper(frames) {
		return m.match(list, frames[1:])
	}
	if name := f.levels[0].function; m.gaps() && (name == missingCaller || name == truncatedStack) {
		// The frame stands for one or more functions.
		return m.match(list[1:], frames) || m.match(list[1:], frames[1:])
	}
	return m.same(list[0], f) && m.match(list[1:], frames[1:])
}

// gaps reports whether callers may be missing in a stack that is marked as cut.
func (m *matcher) gaps() bool { return m.build.chains == "fp" || m.build.unwindless }

// isWrapper reports whether the first frame is a wrapper that Go's compiler made to call the next
// one, such as a pointer method for a value method (`main.(*circle).draw`).
func isWrapper(frames []*frame) bool {
	name := frames[0].levels[0].function
	method := strings.NewReplacer("(*", "", ")", "").Replace(name)
	return goWrapper.MatchString(name) || len(frames) > 1 && method != name && frames[1].levels[0].function == method
}

// others reports whether a frame's function is not in the truth.
func (m *matcher) others(f *frame) bool {
	name := f.levels[0].function
	return !m.known[name] && (m.gaps() || name != missingCaller && name != truncatedStack)
}

// same reports whether a frame matches a place.
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

// bareName returns a Rust name without scopes and arguments, and one name for all closures.
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

// named reports whether a function has the name of an element, and whether that element is always
// the same function.
func (m *matcher) named(e element, l level) bool {
	name := l.function
	want, _, _ := strings.Cut(e.function, "@") // the rest distinguishes instances of one name
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
	// A clone is a separate function with a mark (S9).
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
