package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"golang.org/x/term"
)

// page is text for people on its way to the output. Only page and printTable write
// texts that come from a store.
type page struct {
	out interface { // a bufio.Writer or a tabwriter.Writer
		io.Writer
		Flush() error
	}
}

// page starts a page on the standard output.
func (a *app) page() *page { return &page{bufio.NewWriter(a.stdout)} }

// printf prints like fmt.Printf, with the texts among the arguments printable.
func (p *page) printf(format string, args ...any) {
	fmt.Fprintf(p.out, format, printables(args)...)
}

// flush writes what was printed. It returns any error since the last flush.
func (p *page) flush() error { return p.out.Flush() }

// printf prints a line to the standard output.
func (a *app) printf(format string, args ...any) error {
	p := a.page()
	p.printf(format, args...)
	return p.flush()
}

// sourceLine is a text that keeps its tabs.
type sourceLine string

// printables makes the texts among arguments of fmt.Printf printable.
func printables(args []any) []any {
	out := make([]any, len(args))
	for i, arg := range args {
		switch v := arg.(type) {
		case int, int32, int64, uint64, float64:
			out[i] = v
		case sourceLine:
			out[i] = printableLine(string(v))
		default:
			out[i] = printable(fmt.Sprint(v))
		}
	}
	return out
}

// say prints a message for people on standard error. Lines of an argument after
// its first are indented, so that they cannot pose as messages.
func say(stderr io.Writer, format string, args ...any) {
	out := make([]any, len(args))
	for i, arg := range args {
		if _, ok := arg.(error); !ok {
			out[i] = printables(args[i : i+1])[0]
			continue
		}
		lines := strings.Split(fmt.Sprint(arg), "\n") // errors of the SQL engine have several
		for k := range lines {
			lines[k] = printableLine(lines[k])
		}
		out[i] = strings.Join(lines, "\n  ")
	}
	fmt.Fprintf(stderr, format, out...)
}

func isTerminal(stream any) bool {
	f, ok := stream.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(f.Fd()))
}
