package unwind

import (
	"path"
	"slices"
	"strings"

	"stackmill/schema"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/program"
	"stackmill/stages/symbolize/image"
)

// The artificial functions for the states of a thread in an OpenMP runtime (manual: OpenMP Special
// Functions).
const (
	ompOverhead        = "<OMP-overhead>"
	ompIdle            = "<OMP-idle>"
	ompReduction       = "<OMP-reduction>"
	ompImplicitBarrier = "<OMP-implicit_barrier>"
	ompExplicitBarrier = "<OMP-explicit_barrier>"
	ompLockWait        = "<OMP-lock_wait>"
	ompCriticalWait    = "<OMP-critical_section_wait>"
	ompOrderedWait     = "<OMP-ordered_section_wait>"
)

// entryPoints maps functions of the runtimes libgomp and libomp, exported and some internal ones,
// to the state of a thread that executes them. It has only functions that wait, and those that
// waiting functions call before they wait.
var entryPoints = map[string]string{
	"GOMP_barrier":             ompExplicitBarrier,
	"GOMP_barrier_cancel":      ompExplicitBarrier,
	"GOMP_critical_name_start": ompCriticalWait,
	"GOMP_critical_start":      ompCriticalWait,
	"GOMP_doacross_ull_wait":   ompOrderedWait,
	"GOMP_doacross_wait":       ompOrderedWait,
	"GOMP_loop_end":            ompImplicitBarrier,
	"GOMP_loop_end_cancel":     ompImplicitBarrier,
	"GOMP_ordered_start":       ompOrderedWait,
	"GOMP_sections_end":        ompImplicitBarrier,
	"GOMP_sections_end_cancel": ompImplicitBarrier,
	"GOMP_single_copy_end":     ompImplicitBarrier,
	"GOMP_single_copy_start":   ompImplicitBarrier,
	"omp_set_lock":             ompLockWait,
	"omp_set_lock_":            ompLockWait,
	"omp_set_nest_lock":        ompLockWait,
	"omp_set_nest_lock_":       ompLockWait,

	"gomp_simple_barrier_wait":     ompIdle,
	"gomp_team_barrier_wait":       ompExplicitBarrier,
	"gomp_team_barrier_wait_final": ompImplicitBarrier,
	"gomp_team_end":                ompImplicitBarrier,
	"gomp_team_start":              ompOverhead,
	"gomp_work_share_end":          ompImplicitBarrier,

	"__kmpc_barrier":            ompExplicitBarrier,
	"__kmpc_barrier_master":     ompExplicitBarrier,
	"__kmpc_cancel_barrier":     ompExplicitBarrier,
	"__kmpc_copyprivate":        ompImplicitBarrier,
	"__kmpc_critical":           ompCriticalWait,
	"__kmpc_critical_with_hint": ompCriticalWait,
	"__kmpc_doacross_wait":      ompOrderedWait,
	"__kmpc_end_reduce":         ompReduction,
	"__kmpc_end_reduce_nowait":  ompReduction,
	"__kmpc_fork_call":          ompImplicitBarrier,
	"__kmpc_ordered":            ompOrderedWait,
	"__kmpc_reduce":             ompReduction,
	"__kmpc_reduce_nowait":      ompReduction,
	"__kmpc_set_lock":           ompLockWait,
	"__kmpc_set_nest_lock":      ompLockWait,

	"__kmp_fork_barrier": ompIdle,
	"__kmp_fork_call":    ompOverhead,
	"__kmp_join_barrier": ompImplicitBarrier,
}

// parallelPrefix begins the names of libgomp's functions that run a whole parallel region. At the
// region's end, a thread waits in them for the other threads.
const parallelPrefix = "GOMP_parallel"

// functionClass says to whom a function belongs: to the program, to the system or to an OpenMP
// runtime.
type functionClass struct {
	owner schema.Owner // 0 until looked up
	state string       // what a thread in the function is doing, if the function is a runtime's entry point
}

// hasRuntime reports whether an OpenMP runtime was ever mapped. It returns false for profiles that
// name functions: their recorder has already decided which frames of the runtime to show.
func hasRuntime(im *image.Image) bool {
	for _, m := range im.Mappings {
		if m.Code == nil && schema.OwnerOf(path.Base(m.Path)) == schema.RuntimeCode {
			return true
		}
	}
	return false
}

func (u *Unwinder) classOf(f Frame) functionClass {
	if f.Rule == schema.RuleMissing { // its neighbors decide
		return functionClass{owner: schema.SystemCode}
	}
	p := u.resolver.Program
	n := p.Location(f.Location).Function
	if more := int(n) + 1 - len(u.cache.functions); more > 0 {
		u.cache.functions = append(u.cache.functions, make([]functionClass, more)...)
	}
	if u.cache.functions[n].owner == 0 {
		u.cache.functions[n] = classify(&p.Functions[n], p.Objects[p.Functions[n].Object].Name)
	}
	return u.cache.functions[n]
}

func classify(f *program.Function, object string) functionClass {
	c := functionClass{owner: schema.OwnerOf(object)}
	if c.owner != schema.RuntimeCode {
		return c
	}
	for _, name := range symtab.Split(f.Aliases) {
		if s := stateIn(name); s != "" {
			c.state = s
		}
	}
	return c
}

// stateIn returns the state of a thread in a function of a runtime, "" if unknown.
func stateIn(symbol string) string {
	if s := entryPoints[symbol]; s != "" {
		return s
	}
	if strings.HasPrefix(symbol, parallelPrefix) {
		return ompImplicitBarrier
	}
	return ""
}

// hideRuntime makes the user stack of a thread of an OpenMP program. Frames of the runtime at the
// leaf become an artificial function for the thread's state (S17). The runtime's other frames, and
// the frames that start its threads, disappear. Bodies are folded (S11). The result is valid until
// the next call.
//
//	before: sched_yield <- <static>@0x72bcd <- __kmpc_barrier <- .omp_outlined. <- ... <- __kmpc_fork_call <- f <- main
//	after:  <OMP-explicit_barrier> <- f <- main
func (u *Unwinder) hideRuntime(machine []Frame) []Frame {
	inside, state := u.insideRuntime(machine)
	rest := u.withoutThreadStart(machine[inside:], inside > 0)
	u.user = u.user[:0]
	above := false // the frame above belongs to the runtime
	for _, f := range rest {
		if above = u.classOf(f).owner == schema.RuntimeCode || above && f.Rule == schema.RuleMissing; !above {
			u.user = append(u.user, f)
		}
	}
	u.user = u.foldBodies(u.user)
	if inside == 0 {
		return u.user
	}
	if state == "" {
		state = ompOverhead
		if len(u.user) == 0 { // no frame of the program: one of the runtime's threads
			state = ompIdle
		}
	}
	u.user = slices.Insert(u.user, 0, insertedFrame(u.resolver.Artificial(state), schema.RuleOpenMP))
	return u.user
}

// insideRuntime returns how many frames at the leaf belong to a call of the runtime, including
// functions of the system that the runtime calls. It also returns the thread's state: the state of
// the outermost entry point among these frames, but overhead if an inner entry point has overhead,
// because the thread does not wait yet.
func (u *Unwinder) insideRuntime(machine []Frame) (n int, state string) {
	for i, f := range machine {
		c := u.classOf(f)
		if c.owner == schema.ProgramCode {
			break
		}
		if c.owner == schema.RuntimeCode {
			n = i + 1
			if c.state != "" && state != ompOverhead {
				state = c.state
			}
		}
	}
	if called := u.calledState(machine, n); called != "" && state != ompOverhead {
		state = called
	}
	return n, state
}

// calledState returns the state of the runtime's entry point that the program calls in machine[n].
// Entry points of libgomp end in a tail call, and so are not on the stack: the call instruction
// shows them. The state is "" if the instruction may enter functions of different states.
func (u *Unwinder) calledState(machine []Frame, n int) (state string) {
	if n == 0 || n == len(machine) || u.classOf(machine[n]).owner != schema.ProgramCode {
		return ""
	}
	known := false
	for _, i := range u.resolver.Imports(machine[n].Location) {
		if !u.resolver.Defines(u.object(machine[n-1]), i.Symbol) {
			continue
		}
		if s := stateIn(i.Symbol); !known {
			known, state = true, s
		} else if s != state {
			return ""
		}
	}
	return state
}

// withoutThreadStart removes the system's frames at the root if they started one of the runtime's
// threads. entered says that runtime frames at the leaf were removed before.
func (u *Unwinder) withoutThreadStart(frames []Frame, entered bool) []Frame {
	n := len(frames)
	for n > 0 && u.classOf(frames[n-1]).owner == schema.SystemCode {
		n--
	}
	if n > 0 && u.classOf(frames[n-1]).owner == schema.RuntimeCode || n == 0 && entered {
		return frames[:n]
	}
	return frames
}
