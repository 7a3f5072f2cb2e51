package demangle

import "errors"

// Limits bound what demangling costs. The same Limits may be used for several
// names, which then share the steps.
type Limits struct {
	Steps int // that may still be taken
	Depth int // levels of nesting, at most
}

// ErrLimit says that a name needs more steps, or is nested more deeply, than
// the limits allow.
var ErrLimit = errors.New("name is too complicated to be demangled")

// ToStringWithin is ToString with bounded work: substitutions and casts let a
// name of a few hundred characters take for ever, and deep nesting would
// overflow the stack, which no caller survives.
func ToStringWithin(name string, limits *Limits, options ...Option) (s string, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case limitReached:
			s, err = "", ErrLimit
		default:
			panic(r)
		}
	}()
	return toString(&work{limits: limits}, name, options...)
}

// work counts steps and levels; nil counts nothing.
type work struct {
	limits *Limits
	depth  int
}

// limitReached is the panic that ends the work. Unlike a demangleErr, it is
// never taken for a reason to try something else.
type limitReached struct{}

func (w *work) spend(steps int) {
	if w == nil {
		return
	}
	if w.limits.Steps -= steps; w.limits.Steps < 0 {
		w.limits.Steps = 0
		panic(limitReached{})
	}
}

func (w *work) enter() {
	if w == nil {
		return
	}
	w.spend(1)
	if w.depth++; w.depth > w.limits.Depth {
		panic(limitReached{})
	}
}

func (w *work) leave() {
	if w != nil {
		w.depth--
	}
}

// copyAST is a.Copy with its steps and levels counted: Copy calls copy once for
// each node that skip let in.
func (w *work) copyAST(a AST, copy func(AST) AST, skip func(AST) bool) AST {
	if w == nil {
		return a.Copy(copy, skip)
	}
	defer func(depth int) { w.depth = depth }(w.depth)
	return a.Copy(func(a AST) AST {
		w.leave()
		return copy(a)
	}, func(a AST) bool {
		if w.spend(1); skip(a) {
			return true
		}
		w.enter()
		return false
	})
}
