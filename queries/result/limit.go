package result

import (
	"fmt"

	"stackmill/internal/terminal"
)

// Limit returns a printer of the first limit rows (0: all) in one of Formats. If there are more rows,
// it prints their number: below a table, or on standard error in the formats that programs read.
func Limit(out *terminal.Output, format string, limit int) Printer {
	p := New(out, format)
	if limit <= 0 {
		return p
	}
	return &limiter{Printer: p, left: limit, tell: func(more int) error { return More(out, format, more) }}
}

// More prints how many rows --limit left out. It prints nothing if there are none.
func More(out *terminal.Output, format string, more int) error {
	text := fmt.Sprintf("%d more rows (--limit 0 prints all)", more)
	switch {
	case more <= 0:
		return nil
	case more == 1:
		text = "1 more row (--limit 0 prints all)"
	}
	if format == "table" || format == "markdown" {
		return out.Printf("\n%s\n", text)
	}
	out.Warnf("%s", text)
	return nil
}

// limiter prints the first rows and counts the others.
type limiter struct {
	Printer
	left, more int
	tell       func(more int) error
}

func (p *limiter) Row(values []any) error {
	if p.left == 0 {
		p.more++
		return nil
	}
	p.left--
	return p.Printer.Row(values)
}

func (p *limiter) Close() error {
	if err := p.Printer.Close(); err != nil {
		return err
	}
	return p.tell(p.more)
}
