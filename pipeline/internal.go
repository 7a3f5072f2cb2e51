package pipeline

import (
	"fmt"
	"runtime/debug"

	"stackmill/internal/ordered"
)

// InternalError is a mistake of ours that a recording tripped: it costs that
// recording, not the night's run.
type InternalError struct {
	Value any
	Stack []byte // for the log
}

func (e *InternalError) Error() string {
	return fmt.Sprintf("internal error, please report it with the recording: %v", e.Value)
}

// recovered makes an error of a panic; every goroutine of an attempt defers it.
// A page fault outside the places where it is expected is a panic there, too.
func recovered(err *error) {
	switch p := recover().(type) {
	case nil:
	case *InternalError:
		*err = p
	case *ordered.Panic:
		*err = &InternalError{p.Value, p.Stack}
	default:
		*err = &InternalError{p, debug.Stack()}
	}
}

// guarded runs f, and returns its panic as an error.
func guarded(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer recovered(&err)
	return f()
}
