package unwind

import (
	"slices"
	"strings"

	"stackmill/schema"
	"stackmill/stages/decode"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/program"
	"stackmill/stages/stacktree"
)

// startFunctions are the outermost functions of complete stacks: those in which threads begin, and
// main functions, where some unwinders stop.
var startFunctions = []string{
	// In programs.
	"_start", "main", "MAIN__", "_init",
	// In dynamic linkers.
	"_dl_start", "_dl_start_user", "_dl_init",
	// In C libraries: they run main.
	"__libc_start_main", "__libc_start_main_impl", "__libc_start_call_main", "libc_start_main_stage2",
	// In C libraries: they run a thread.
	"start_thread", "clone", "clone3", "__clone", "__clone3", "__clone_internal", "__thread_start",
	// In Go programs: they run goroutines and threads.
	"runtime.goexit", "runtime.goexit.abi0", "runtime.mstart", "runtime.mstart.abi0", "runtime.mstart1",
	"runtime.rt0_go", "runtime.rt0_go.abi0", "_rt0_amd64_linux", "_rt0_arm64_linux",
}

// cLibraryPrefixes are the prefixes of the file names of C libraries.
var cLibraryPrefixes = []string{"libc.so", "libc-2.", "libc.musl-", "ld-musl-", "libpthread.so", "libpthread-2."}

// kernelEntryPrefixes are the prefixes of the functions through which user code enters the
// kernel. A kernel stack that ends elsewhere belongs to one of the kernel's own threads.
var kernelEntryPrefixes = []string{"entry_", "asm_", "el0t_", "el0_", "vectors"}

// cutOff returns why a machine stack ends before its thread's start, NotCut if it does not. Stacks
// unwound from dumps or taken from the processor's branch records count as complete.
func (u *Unwinder) cutOff(machine []Frame) stacktree.Cut {
	raw := &u.raw
	switch {
	case raw.Reason != "" || len(machine) == 0 || machine[len(machine)-1].Rule == schema.RuleTruncated:
		return stacktree.NotCut
	case raw.Callers == decode.CallersNone:
		return stacktree.CutLeafOnly
	case raw.Callers == decode.CallersUnwound && len(raw.ByFrame) == 0 && !u.base.byFrame(), raw.Callers == decode.CallersBranches, u.isWhole(machine):
		return stacktree.NotCut
	}
	if !u.base.ok && u.kernelFrames < len(machine) && u.resolver.BeginsThread(machine[len(machine)-1].Location) {
		return stacktree.CutInStart
	}
	return stacktree.CutNoStart
}

// isWhole reports whether a machine stack ends at the start of its thread, or in an artificial
// frame for lost callers. The stack must have a frame.
func (u *Unwinder) isWhole(machine []Frame) bool {
	if u.base.ok {
		return u.base.whole()
	}
	if machine[len(machine)-1].Rule == schema.RuleTruncated {
		return true
	}
	root := machine[len(machine)-1].Location
	if u.kernelFrames == len(machine) {
		return !hasAnyPrefix(u.function(root).Linkage, kernelEntryPrefixes)
	}
	return u.isStart(root, len(machine)-u.kernelFrames > 1) || u.isEntry(machine)
}

// isEntry reports whether the outermost frame of a stack is the entry point of a stripped program:
// a function without a name that called a C library's start function.
func (u *Unwinder) isEntry(machine []Frame) bool {
	n := len(machine)
	return n > 1 && u.traitsOf(&machine[n-1]).kind() == staticKind && u.isStart(machine[n-2].Location, true)
}

// isStart reports whether threads begin in the function of a location. In a stripped C library,
// this may be any function without a name that calls another function; calls says that it does.
func (u *Unwinder) isStart(location program.LocationNo, calls bool) bool {
	f := u.function(location)
	if f.Kind == funcinfo.Static && calls {
		return hasAnyPrefix(u.resolver.Program.Objects[f.Object].Name, cLibraryPrefixes)
	}
	return hasAlias(f, startFunctions)
}

// hasAlias reports whether any symbol of a function is among names.
func hasAlias(f *program.Function, names []string) bool {
	return slices.ContainsFunc(symtab.Split(f.Aliases), func(alias string) bool {
		name, _, _ := strings.Cut(alias, ".isra")
		return slices.Contains(names, name)
	})
}

// callsMain reports whether a location is in the C library's function that calls main. In a
// stripped library, this is the function before __libc_start_main.
func (u *Unwinder) callsMain(location program.LocationNo) bool {
	f := u.function(location)
	aliases := f.Aliases
	if table := u.resolver.Table(f.Object); f.Kind == funcinfo.Static && table != nil {
		next, _ := table.Function(f.Offset + f.Size)
		aliases = next.Aliases
	}
	return slices.ContainsFunc(symtab.Split(aliases), func(s string) bool {
		return strings.HasPrefix(s, "__libc_start_main") || s == "__libc_start_call_main"
	})
}

func hasAnyPrefix(name string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}
