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

// The states of a thread inside an OpenMP runtime (manual: OpenMP Special Functions).
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

// entryPoints says what a thread waits for inside a function of the runtime:
// the exported ones of libgomp and libomp, and some that a stripped runtime has
// no names for. Functions that hardly wait are not listed, unless they do
// within one that waits later.
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

// parallel is how the names of libgomp's functions begin that run a whole
// region: inside them a thread waits for the others at its end.
const parallel = "GOMP_parallel"

// class is what a function is to a program's own code.
type class struct {
	owner schema.Owner // 0 until looked up
	state string       // of a runtime's entry point
}

// hasRuntime reports whether an OpenMP runtime was ever mapped. Stacks that were recorded
// as names have no more of its frames than their recorder shows.
func hasRuntime(im *image.Image) bool {
	for _, m := range im.Mappings {
		if m.Code == nil && schema.OwnerOf(path.Base(m.Path)) == schema.RuntimeCode {
			return true
		}
	}
	return false
}

func (u *Unwinder) class(f Frame) class {
	if f.Rule == schema.RuleMissing { // the frames around it say whose it is
		return class{owner: schema.SystemCode}
	}
	p := u.resolver.Program
	n := p.Location(f.Location).Function
	if more := int(n) + 1 - len(u.known.classes); more > 0 {
		u.known.classes = append(u.known.classes, make([]class, more)...)
	}
	if u.known.classes[n].owner == 0 {
		u.known.classes[n] = classify(&p.Functions[n], p.Objects[p.Functions[n].Object].Name)
	}
	return u.known.classes[n]
}

func classify(f *program.Function, object string) class {
	c := class{owner: schema.OwnerOf(object)}
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

// stateIn is the state of a thread in a runtime's function, empty if unknown.
func stateIn(symbol string) string {
	if s := entryPoints[symbol]; s != "" {
		return s
	}
	if strings.HasPrefix(symbol, parallel) {
		return ompImplicitBarrier
	}
	return ""
}

// runtime makes the user stack of a thread of an OpenMP program from the
// recorded one: a leaf inside the runtime becomes the state of the runtime's
// entry points on the stack (S17), its other frames and those that only
// start a thread of the runtime's go, and bodies are folded (S11). The result is
// valid until the next call.
//
//	before: sched_yield <- <static>@0x72bcd <- __kmpc_barrier <- .omp_outlined. <- ... <- __kmpc_fork_call <- f <- main
//	after:  <OMP-explicit_barrier> <- f <- main
func (u *Unwinder) runtime(machine []Frame) []Frame {
	inside, state := u.insideRuntime(machine)
	rest := u.withoutThreadStart(machine[inside:], inside > 0)
	u.user = u.user[:0]
	above := false // the frame above is the runtime's
	for _, f := range rest {
		if above = u.class(f).owner == schema.RuntimeCode || above && f.Rule == schema.RuleMissing; !above {
			u.user = append(u.user, f)
		}
	}
	u.user = u.body(u.user)
	if inside == 0 {
		return u.user
	}
	if state == "" {
		state = ompOverhead
		if len(u.user) == 0 { // in none of the program's functions: a thread of the runtime's
			state = ompIdle
		}
	}
	u.user = slices.Insert(u.user, 0, putIn(u.resolver.Artificial(state), schema.RuleOpenMP))
	return u.user
}

// insideRuntime returns how many of the leaf's frames belong to a call of the
// runtime, including what that called of the system, and the state of its
// outermost entry point; what that does before it waits is overhead.
func (u *Unwinder) insideRuntime(machine []Frame) (n int, state string) {
	for i, f := range machine {
		c := u.class(f)
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

// calledState is the state of the entry point that the program's instruction
// calls, so that it is known even if the entry point has left by a
// tail call, as libgomp's have: the frame machine[n] called the runtime. It is
// empty unless everything that the instruction may enter has the same state.
func (u *Unwinder) calledState(machine []Frame, n int) (state string) {
	if n == 0 || n == len(machine) || u.class(machine[n]).owner != schema.ProgramCode {
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

// withoutThreadStart cuts the system's frames at the root off if the runtime
// was the first that they called; entered says that it stood at the leaf.
func (u *Unwinder) withoutThreadStart(frames []Frame, entered bool) []Frame {
	n := len(frames)
	for n > 0 && u.class(frames[n-1]).owner == schema.SystemCode {
		n--
	}
	if n > 0 && u.class(frames[n-1]).owner == schema.RuntimeCode || n == 0 && entered {
		return frames[:n]
	}
	return frames
}
