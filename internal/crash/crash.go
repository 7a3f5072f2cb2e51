// Package crash turns panics into errors of one line, with the stack in a file.
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

// Save writes the stack of an internal error to a temporary file and returns the file's name in
// parentheses, or nothing if that fails.
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
