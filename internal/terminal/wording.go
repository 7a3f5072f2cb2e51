package terminal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"regexp/syntax"
	"strconv"
	"strings"
)

// Wording returns the text of an error for people. It leaves out the names of functions and system
// calls that Go puts before the reason, which only Go programmers understand.
func Wording(err error) string {
	text := err.Error()
	for _, e := range append([]error{err}, causes(err)...) {
		if plain, ok := plainText(e); ok {
			text = strings.ReplaceAll(text, e.Error(), plain)
			subject, _, _ := strings.Cut(plain, ": ")
			text = strings.ReplaceAll(text, subject+": "+subject+": ", subject+": ") // the caller names it, too
		}
	}
	return text
}

// Plural formats a number of things: 1 file, 2 files, 3 batches.
func Plural[N int | int64](n N, thing string) string {
	switch {
	case n == 1:
		return "1 " + thing
	case strings.HasSuffix(thing, "ch"):
		return fmt.Sprintf("%d %ses", n, thing)
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// causes returns the errors that an error wraps, from the outermost one.
func causes(err error) (list []error) {
	switch w := err.(type) {
	case interface{ Unwrap() error }:
		if e := w.Unwrap(); e != nil {
			list = append(append(list, e), causes(e)...)
		}
	case interface{ Unwrap() []error }:
		for _, e := range w.Unwrap() {
			list = append(append(list, e), causes(e)...)
		}
	}
	return list
}

// plainText returns a plain text for an error of Go's standard library; ok is false if the error's own
// text is good enough.
func plainText(err error) (text string, ok bool) {
	switch e := err.(type) {
	case *fs.PathError:
		return e.Path + ": " + e.Err.Error(), true
	case *os.LinkError:
		return e.New + ": " + e.Err.Error(), true
	case *os.SyscallError:
		return e.Err.Error(), true
	case *exec.Error:
		reason := e.Err.Error()
		if errors.Is(e.Err, exec.ErrNotFound) {
			reason = "no such program in $PATH"
		}
		return e.Name + ": " + reason, true
	case *net.OpError:
		if e.Addr == nil {
			return e.Err.Error(), true
		}
		return e.Addr.String() + ": " + e.Err.Error(), true
	case *net.AddrError:
		return strconv.Quote(e.Addr) + " is not an address (" + e.Err + ")", true
	case *syntax.Error:
		return strconv.Quote(e.Expr) + " is not a regular expression: " + e.Code.String(), true
	case *json.SyntaxError:
		return fmt.Sprintf("wrong JSON at byte %d", e.Offset), true
	case *json.UnmarshalTypeError:
		return fmt.Sprintf("wrong JSON at byte %d: %s cannot be a %s", e.Offset, strconv.Quote(e.Field), e.Value), true
	case *strconv.NumError:
		return strconv.Quote(e.Num) + " " + numberReason(e), true
	}
	if err == context.DeadlineExceeded {
		return "the time is over", true
	}
	return "", false
}

// numberReason returns the reason why a text is not a number.
func numberReason(e *strconv.NumError) string {
	if errors.Is(e.Err, strconv.ErrRange) {
		return "is too large a number"
	}
	return "is not a number"
}
