// Package terminal prints text for people. It first escapes every text from a recording, a store or
// a file name, so that the text can neither control the terminal nor pose as other output.
//
// Start reading with Output and Page; printable.go escapes.
package terminal

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"golang.org/x/term"
)

// Output is where a program prints its results and its messages.
type Output struct {
	Stdout, Stderr io.Writer
	FixedWidth     int // overrides the terminal's width; 0 asks the terminal
	Colors         bool

	// Tables, if not nil, receives the tables instead of printing them.
	Tables func(fields []Field, rows [][]string) error
}

// Printf prints to the standard output.
func (o *Output) Printf(format string, args ...any) error {
	p := o.Page()
	p.Printf(format, args...)
	return p.Flush()
}

// Warnf prints a line on standard error, after the program's name.
func (o *Output) Warnf(format string, args ...any) { o.Messagef("stackmill: "+format+"\n", args...) }

// Messagef prints a message on standard error. It indents all lines of an error after the first, so
// that they cannot pose as messages.
func (o *Output) Messagef(format string, args ...any) {
	out := make([]any, len(args))
	for i, arg := range args {
		err, ok := arg.(error)
		if !ok {
			out[i] = printables(args[i : i+1])[0]
			continue
		}
		lines := strings.Split(Wording(err), "\n") // errors of the SQL engine have several lines
		for k := range lines {
			lines[k] = PrintableLine(lines[k])
		}
		out[i] = strings.Join(lines, "\n  ")
	}
	fmt.Fprintf(o.Stderr, format, out...)
}

// Width returns the terminal's width, 0 if the standard output is not a terminal.
func (o *Output) Width() int {
	if o.FixedWidth > 0 {
		return o.FixedWidth
	}
	f, ok := o.Stdout.(interface{ Fd() uintptr })
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// Is reports whether a stream is a terminal.
func Is(stream any) bool {
	f, ok := stream.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(f.Fd()))
}

// Flusher is a buffered writer, such as a bufio.Writer or a tabwriter.Writer.
type Flusher interface {
	io.Writer
	Flush() error
}

// Page collects output until Flush writes it.
type Page struct {
	out    Flusher
	colors bool
}

// NewPage returns a page that is written to out.
func NewPage(out Flusher) *Page { return &Page{out: out} }

// Page starts a page for the standard output.
func (o *Output) Page() *Page { return &Page{bufio.NewWriter(o.Stdout), o.Colors} }

// Style is a style in which a terminal shows a text.
type Style string

// The styles, as parameters of SGR (ECMA-48).
const (
	Plain Style = ""
	Bold  Style = "1"
	Faint Style = "2"
	Hot   Style = "1;31" // bold and red
)

// styled returns a text without line breaks in a style, if the output has colors.
func styled(colors bool, text string, style Style) string {
	if !colors || text == "" || style == Plain {
		return text
	}
	return "\x1b[" + string(style) + "m" + text + "\x1b[0m"
}

// Linef prints a line in a style, if the output has colors, after escaping the texts among the
// arguments.
func (p *Page) Linef(style Style, format string, args ...any) {
	fmt.Fprintln(p.out, styled(p.colors, fmt.Sprintf(format, printables(args)...), style))
}

// Printf prints like fmt.Printf, after escaping the texts among the arguments.
func (p *Page) Printf(format string, args ...any) {
	fmt.Fprintf(p.out, format, printables(args)...)
}

// Flush writes what was printed. It returns any error since the last flush.
func (p *Page) Flush() error { return p.out.Flush() }

// SourceLine is a text that keeps its tabs when printed.
type SourceLine string

// printables escapes the texts among the arguments of fmt.Printf.
func printables(args []any) []any {
	out := make([]any, len(args))
	for i, arg := range args {
		switch v := arg.(type) {
		case int, int32, int64, uint64, float64:
			out[i] = v
		case SourceLine:
			out[i] = PrintableLine(string(v))
		default:
			out[i] = Printable(fmt.Sprint(v))
		}
	}
	return out
}
