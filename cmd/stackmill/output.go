package main

import (
	"bytes"
	"encoding/json"

	"stackmill/queries/result"
)

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
