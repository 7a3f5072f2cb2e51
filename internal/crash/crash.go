// Package crash turns panics into one-line errors, and writes their stacks to files.
package crash

import (
	"fmt"
	"os"
	"runtime/debug"
)

// Catch runs f and returns its error, or an error for its panic.
func Catch(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("internal error: %v; please report it with the command%s", p, Save(debug.Stack()))
		}
	}()
	return f()
}

// Save writes the stack of an internal error to a temporary file. It returns the file's name as a
// note in parentheses, or nothing if writing fails.
func Save(stack []byte) string {
	f, err := os.CreateTemp("", "stackmill-error-*.txt")
	if err != nil {
		return ""
	}
	_, err = f.Write(stack)
	if closed := f.Close(); err != nil || closed != nil {
		return ""
	}
	return fmt.Sprintf(" (the stack trace is in %s)", f.Name())
}
