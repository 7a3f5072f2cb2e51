// Package ordered is the scheduler of the writing side. Its functions start every goroutine there,
// so that results are ordered, queues are bounded, and panics reach a caller.
//
//	ForEach, Run   run functions concurrently, and wait for them
//	Map            computes results concurrently, and takes them in order
//	Chain          passes results through steps; each step handles one at a time
//	Future         is one result that is computed in the background
//	Worker         processes values from a queue one by one
//	Producer       makes values ahead of their consumer
//	Turns          let goroutines act one after the other
//
// Only Start can leave a goroutine running. The functions that wait for the code that they run panic
// if it panics. Future, Worker and Producer do not wait, and turn the panic into an error.
//
// Start reading with ForEach and Map; each of the others has a file.
package ordered

import (
	"fmt"
	"runtime/debug"
)

// Panic is a panic of another goroutine, and where it happened.
type Panic struct {
	Value any
	Stack []byte // for the log
}

func (p *Panic) Error() string {
	return fmt.Sprintf("internal error: %v; please report it with its input", p.Value)
}

// panicOf returns the value with which to panic again. A page fault stays unchanged, so that callers
// can recognize it.
func panicOf(recovered any) any {
	switch recovered.(type) {
	case nil, *Panic, interface{ Addr() uintptr }:
		return recovered
	}
	return &Panic{recovered, debug.Stack()}
}

// Guard runs f and returns its panic, also a page fault, as a *Panic.
func Guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *Panic:
			err = p
		default:
			err = &Panic{p, debug.Stack()}
		}
	}()
	return f()
}
