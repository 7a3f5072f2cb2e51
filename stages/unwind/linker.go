package unwind

import (
	"stackmill/schema"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/program"
)

// linkers are how the names of dynamic linkers begin.
var linkers = []string{"ld-", "ld64.so", "ld.so"}

// linker makes the frames of the dynamic linker above a first call through the
// procedure linkage table, and the table's own, one frame of the artificial
// function @plt of the calling load object (S23). That is the leaf while the
// linker looks for the function, and has frames above it when the linker calls
// others: a library that chooses among implementations, or an auditing one.
//
//	before: do_lookup_x <- _dl_fixup <- _dl_runtime_resolve_xsave <- caller <- main
//	after:  @plt <- caller <- main
func (u *Unwinder) linker(frames []Frame) []Frame {
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
				u.drop(f, schema.RuleLinker)
			}
			frames[i] = putIn(entry, schema.RuleLinker)
			frames = append(frames[:i+1], frames[end+n:]...)
		} else {
			i = end
		}
	}
	return frames
}

// firstCall returns the entry of the procedure linkage table that the frames
// below the linker's went through, None if they did not; n counts the frames
// that are the table's. A table that is on the stack is one itself, otherwise
// the caller's instruction shows it, if the linker's frame does not contradict.
func (u *Unwinder) firstCall(linker Frame, below []Frame) (entry program.LocationNo, n int) {
	if len(below) == 0 {
		return program.None, 0
	}
	if u.function(below[0].Location).Kind == funcinfo.PLT {
		return below[0].Location, 1
	}
	f := u.function(linker.Location)
	if f.Kind != funcinfo.Static && !hasAny(f.Linkage, binders) {
		return program.None, 0
	}
	imports := u.resolver.Imports(below[0].Location)
	for _, i := range imports {
		if i.Entry < 0 || u.resolver.Defines(f.Object, i.Symbol) {
			return program.None, 0
		}
		// A stripped linker does not show whether a function binds calls or is one
		// that the C library has jumped to by a pointer.
		if f.Kind == funcinfo.Static && !u.scope.ReturnsItself(i.Symbol) {
			return program.None, 0
		}
	}
	if len(imports) == 0 {
		return program.None, 0
	}
	return imports[0].Entry, 0
}

// binders are how the functions of the dynamic linker begin that procedure linkage
// tables enter, or that do nothing but their work.
var binders = []string{"_dl_runtime_resolve", "_dl_runtime_profile", "_dl_fixup", "_dl_profile_fixup"}

func (u *Unwinder) object(f Frame) program.ObjectNo {
	return u.function(f.Location).Object
}

func (u *Unwinder) inLinker(f *Frame) bool { return u.traitsOf(f).has(isLinker) }
