package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sync/atomic"

	"stackmill/queries/result"
)

// standardOutput remembers that it could not be written to: not everything that prints returns
// such an error.
type standardOutput struct {
	to     io.Writer
	failed atomic.Pointer[error] // the first
}

func (o *standardOutput) Write(p []byte) (int, error) {
	n, err := o.to.Write(p)
	if err != nil {
		o.failed.CompareAndSwap(nil, &err)
	}
	return n, err
}

// Fd returns the descriptor, with which a terminal is found out; none if it is no file.
func (o *standardOutput) Fd() uintptr {
	if f, ok := o.to.(interface{ Fd() uintptr }); ok {
		return f.Fd()
	}
	return ^uintptr(0)
}

// orFailed returns the error of a verb or, if it has none, that the output is not complete. It
// says so if the verb failed otherwise.
func (o *standardOutput) orFailed(stderr io.Writer, err error) error {
	switch failed := o.failed.Load(); {
	case failed == nil:
	case err == nil:
		return *failed
	case !errors.Is(err, *failed):
		say(stderr, "stackmill: %v\n", *failed)
	}
	return err
}

var reportFormats = []string{"table", "csv", "json", "ndjson", "markdown"}

// newPrinter returns the printer of a format: table, markdown, csv, json or
// ndjson.
func (a *app) newPrinter(format string) result.Printer {
	switch format {
	case "csv":
		if isTerminal(a.stdout) { // files have the texts as they are
			return result.CSV(a.stdout, printable)
		}
		return result.CSV(a.stdout, nil)
	case "json":
		return result.JSON(a.stdout)
	case "ndjson":
		return result.NDJSON(a.stdout)
	}
	return &tablePrinter{app: a, markdown: format == "markdown"}
}

// printJSON prints a value, on a line or indented for people.
func (a *app) printJSON(v any, indented bool) error {
	text := result.Marshal(v)
	if indented {
		var out bytes.Buffer
		if err := json.Indent(&out, text, "", "  "); err != nil {
			return err
		}
		text = out.Bytes()
	}
	_, err := a.stdout.Write(append(text, '\n'))
	return err
}
