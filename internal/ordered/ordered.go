// Package ordered is the scheduler of the writing side: every goroutine there is started by
// one of its functions, so that results have an order, queues a bound, and panics a caller.
//
//	ForEach, Run   run functions at the same time, and wait for them
//	Map            computes results at the same time, and takes them in order
//	Chain          passes results through steps; each step handles one at a time
//	Future         is one result that is computed meanwhile
//	Worker         does something with values, one by one, behind a queue
//	Producer       makes values ahead of their consumer
//	Turns          let goroutines act one after the other
//
// Nothing but Start leaves a goroutine behind. Functions that wait for a result panic where the
// code that they run panics; Future, Worker and Producer, which return before, make an error
// of it.
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

// panicOf returns the value to panic with again. Page faults stay what they are, for callers
// to recognize.
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
