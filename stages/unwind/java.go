package unwind

import (
	"strings"

	"stackmill/schema"
	"stackmill/stages/decode"
	"stackmill/stages/symbolize"
)

const (
	bciNative   = -3 // the frame is a native method
	groupSystem = "system"
	libraryJVM  = "libjvm.so"
)

// java makes the user stack of a Java program (S14, gprofng-experiment 4.6):
// the recorded Java stack, with the native frames of native methods spliced in.
// The JVM's own threads become one frame.
func (u *Unwinder) java(raw *decode.RawStack, machine []Frame, system bool, res *Resolved) {
	if system {
		res.User = u.intern([]Frame{{u.resolver.Artificial(symbolize.JVMSystem), schema.RuleJava}})
		return
	}
	if raw.Java == nil {
		res.User = u.intern([]Frame{{u.resolver.Artificial(symbolize.NoJavaStack), schema.RuleJava}})
		return
	}
	machine = append([]Frame(nil), machine...)
	frames, truncated := raw.Java, false
	if n := len(frames); n > 0 && frames[n-1].Method == decode.MarkTruncated {
		frames, truncated = frames[:n-1], true
	}
	// Native frames are spliced from the root, so the stack is built from there.
	var fromRoot []Frame
	if truncated {
		fromRoot = append(fromRoot, Frame{u.resolver.Artificial(symbolize.TruncatedStack), schema.RuleTruncated})
	}
	next := len(machine) - 1
	for i := len(frames) - 1; i >= 0; i-- {
		f := frames[i]
		fromRoot = append(fromRoot, Frame{u.resolver.JavaFrame(u.recorded, f), schema.RuleJava})
		if f.BCI == bciNative {
			fromRoot, next = u.spliceNative(fromRoot, machine, next, u.recorded.JavaMethods[f.Method], i == 0)
		}
	}
	stack := make([]Frame, len(fromRoot))
	for i, f := range fromRoot {
		stack[len(stack)-1-i] = f
	}
	res.User = u.intern(stack)
	if len(stack) > 0 && u.function(stack[0].Location).Name != symbolize.NoJavaStack {
		res.Expert = res.User
	}
}

// spliceNative appends the native frames of a native method: those from its
// implementation towards the leaf, up to where the JVM is entered again. The
// leaf method's go on to the end.
func (u *Unwinder) spliceNative(to, machine []Frame, next int, m decode.JavaMethod, leaf bool) ([]Frame, int) {
	name := nativeName(m)
	for i := next; i >= 0; i-- {
		if !strings.HasPrefix(u.function(machine[i].Location).Linkage, name) {
			continue
		}
		for ; i >= 0; i-- {
			object := u.resolver.Program.Objects[u.function(machine[i].Location).Object].Name
			if object == libraryJVM && !leaf {
				break
			}
			to = append(to, machine[i])
		}
		return to, i
	}
	return to, next
}

// methods shows the versions of a method that a virtual machine's list of generated
// code has, compiled one after the other, as one function (S14).
func (u *Unwinder) methods(frames []Frame) []Frame {
	if !u.resolver.Program.HasMethods() {
		return frames
	}
	merged := frames
	for i, f := range frames {
		location, ok := u.resolver.Method(f.Location)
		if !ok {
			continue
		}
		if &merged[0] == &frames[0] {
			merged = append([]Frame(nil), frames...)
		}
		merged[i] = Frame{location, schema.RuleJava}
	}
	return merged
}

// nativeName is the symbol of a native method's implementation.
func nativeName(m decode.JavaMethod) string {
	mangle := strings.NewReplacer("_", "_1", ".", "_")
	return "Java_" + mangle.Replace(m.Class) + "_" + mangle.Replace(m.Name)
}

// SystemThread reports whether the thread was one of the JVM's own at time t:
// one that the JVM did not announce, or announced in its system group. Without
// Java data there are none.
func (u *Unwinder) SystemThread(thread, t int64) bool {
	for _, j := range u.recorded.JavaThreads {
		if j.ThreadID == thread && j.FromNS <= t && t < j.UntilNS {
			return j.Group == groupSystem
		}
	}
	return len(u.recorded.JavaThreads) > 0
}
