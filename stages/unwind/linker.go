package unwind

import (
	"stackmill/schema"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/program"
)

// linkerPrefixes are the prefixes of the file names of dynamic linkers.
var linkerPrefixes = []string{"ld-", "ld64.so", "ld.so"}

// mergeLinker handles the first call of a function through the procedure linkage table, which
// enters the dynamic linker. It replaces the frames of the linker and of the table by one frame,
// the artificial function @plt of the calling load object (S23). This frame is the leaf while the
// linker looks up the function. It has callees while the linker calls an IFUNC resolver or an audit
// library.
//
//	before: do_lookup_x <- _dl_fixup <- _dl_runtime_resolve_xsave <- caller <- main
//	after:  @plt <- caller <- main
func (u *Unwinder) mergeLinker(frames []Frame) []Frame {
	for i := 0; i < len(frames); i++ {
		if !u.inLinker(&frames[i]) {
			continue
		}
		end := i + 1
		for end < len(frames) && u.inLinker(&frames[end]) {
			end++
		}
		if entry, n := u.firstCall(frames[end-1], frames[end:]); entry >= 0 {
			for _, f := range frames[i : end+n] {
				u.noteDropped(f, schema.RuleLinker)
			}
			frames[i] = insertedFrame(entry, schema.RuleLinker)
			frames = append(frames[:i+1], frames[end+n:]...)
		} else {
			i = end
		}
	}
	return frames
}

// firstCall returns the entry of the procedure linkage table through which the linker was entered,
// None if it was not, and how many frames of `below` are in the table. If the table is not on the
// stack, the calling instruction shows the entry, unless linker, the outermost frame of the linker,
// is in a function that binds no calls.
func (u *Unwinder) firstCall(linker Frame, below []Frame) (entry program.LocationNo, n int) {
	if len(below) == 0 {
		return program.None, 0
	}
	if u.function(below[0].Location).Kind == funcinfo.PLT {
		return below[0].Location, 1
	}
	f := u.function(linker.Location)
	if f.Kind != funcinfo.Static && !hasAnyPrefix(f.Linkage, binderPrefixes) {
		return program.None, 0
	}
	imports := u.resolver.Imports(below[0].Location)
	for _, i := range imports {
		if i.Entry < 0 || u.resolver.Defines(f.Object, i.Symbol) {
			return program.None, 0
		}
		// In a stripped linker, the function may be one that binds calls, or one that the C library
		// jumped to through a pointer.
		if f.Kind == funcinfo.Static && !u.scope.ReturnsItself(i.Symbol) {
			return program.None, 0
		}
	}
	if len(imports) == 0 {
		return program.None, 0
	}
	return imports[0].Entry, 0
}

// binderPrefixes are the prefixes of the dynamic linker's functions that bind a call: the procedure
// linkage table enters some, and only these call the others.
var binderPrefixes = []string{"_dl_runtime_resolve", "_dl_runtime_profile", "_dl_fixup", "_dl_profile_fixup"}

func (u *Unwinder) object(f Frame) program.ObjectNo {
	return u.function(f.Location).Object
}

func (u *Unwinder) inLinker(f *Frame) bool { return u.traitsOf(f).has(isLinker) }
