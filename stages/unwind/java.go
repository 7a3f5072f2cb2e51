package unwind

import (
	"slices"
	"strings"

	"stackmill/schema"
	"stackmill/stages/decode"
	"stackmill/stages/program"
	"stackmill/stages/stacktree"
	"stackmill/stages/symbolize"
)

const (
	bciNative   = -3 // the frame is a native method
	groupSystem = "system"
	libraryJVM  = "libjvm.so"
)

// javaFrames makes the user stack of a Java program (S14, gprofng-experiment 4.6): the recorded
// Java stack, with the machine frames of native methods inserted. A stack of one of the JVM's own
// threads becomes one frame. expertIsUser says that expert mode shows the same as user mode.
func (u *Unwinder) javaFrames(machine []Frame, system bool) (user []Frame, expertIsUser bool) {
	recorded := u.raw.Java
	switch {
	case system:
		return []Frame{insertedFrame(u.resolver.Artificial(symbolize.JVMSystem), schema.RuleJava)}, false
	case recorded == nil:
		return []Frame{insertedFrame(u.resolver.Artificial(symbolize.NoJavaStack), schema.RuleJava)}, false
	}
	// Native frames are found from the root on, so the stack is built from there.
	next := len(machine) - 1
	add := func(word int, location program.LocationNo, rule schema.Rule) {
		user = append(user, Frame{Location: location, Rule: rule, Part: stacktree.Java, Word: int32(word), MachineIndex: none})
	}
	for i, f := range slices.Backward(recorded) {
		if i == len(recorded)-1 && isJavaMarker(f) {
			add(i, u.resolver.Artificial(symbolize.TruncatedStack), schema.RuleTruncated)
			continue
		}
		add(i, u.resolver.JavaFrame(u.recorded, f), schema.RuleJava)
		if f.BCI == bciNative {
			user, next = u.spliceNative(user, machine, next, u.recorded.JavaMethods[f.Method], i == 0)
		}
	}
	slices.Reverse(user)
	return user, len(user) > 0 && u.function(user[0].Location).Name != symbolize.NoJavaStack
}

// isJavaMarker reports whether a frame of a Java stack is a marker for lost callers.
func isJavaMarker(f decode.JavaFrame) bool { return f.Method == decode.MarkTruncated }

// spliceNative appends the machine frames of a native method: from its implementation towards the
// leaf, up to where it enters the JVM again, or up to the leaf if the method is the Java stack's
// leaf.
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

// mergeMethods replaces all compiled versions of a Java method by one function (S14). It finds them
// by the list of generated code that the virtual machine wrote.
func (u *Unwinder) mergeMethods(frames []Frame) []Frame {
	if !u.resolver.HasMethods() {
		return frames
	}
	merged := frames
	for i, f := range frames {
		location, ok := u.resolver.Method(f.Location)
		if !ok {
			continue
		}
		if &merged[0] == &frames[0] {
			merged = slices.Clone(frames)
		}
		merged[i].Location, merged[i].Rule, merged[i].traits = location, schema.RuleJava, 0
	}
	return merged
}

// nativeName returns the symbol of the function that implements a native method.
func nativeName(m decode.JavaMethod) string {
	mangle := strings.NewReplacer("_", "_1", ".", "_")
	return "Java_" + mangle.Replace(m.Class) + "_" + mangle.Replace(m.Name)
}

// SystemThread reports whether a thread was one of the JVM's own at time t: the JVM announced it in
// its system group, or did not announce it. In a recording without announced threads, none is.
func SystemThread(announced []decode.JavaThread, thread, t int64) bool {
	for _, j := range announced {
		if j.ThreadID == thread && j.FromNS <= t && t < j.UntilNS {
			return j.Group == groupSystem
		}
	}
	return len(announced) > 0
}
