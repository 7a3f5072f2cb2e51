package result

import (
	"bufio"
	"encoding/csv"
	"io"
	"stackmill/internal/terminal"
	"strconv"
	"strings"
)

// CSV returns a printer of CSV (RFC 4180). show, if not nil, is applied to texts.
func CSV(w io.Writer, show func(string) string) Printer {
	if show == nil {
		show = func(text string) string { return text }
	}
	out := bufio.NewWriter(w)
	return &csvPrinter{out: out, w: csv.NewWriter(out), show: show}
}

// JSON returns a printer of an array of objects.
func JSON(w io.Writer) Printer { return &jsonPrinter{w: bufio.NewWriter(w), array: true} }

// NDJSON returns a printer of one object per line.
func NDJSON(w io.Writer) Printer { return &jsonPrinter{w: bufio.NewWriter(w)} }

type csvPrinter struct {
	out    *bufio.Writer
	w      *csv.Writer
	show   func(string) string
	fields []Field
}

func (p *csvPrinter) Header(fields []Field) error {
	p.fields = fields
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = p.show(f.Name)
	}
	return p.w.Write(names)
}

func (p *csvPrinter) Row(values []any) error {
	record := make([]string, len(values))
	for i, v := range values {
		record[i] = p.show(Cell(v, p.fields[i].Kind))
	}
	if len(record) == 1 && record[0] == "" { // readers would skip an empty line
		p.w.Flush()
		_, err := p.out.WriteString("\"\"\n")
		return err
	}
	return p.w.Write(record)
}

func (p *csvPrinter) Close() error {
	p.w.Flush()
	if err := p.w.Error(); err != nil {
		return err
	}
	return p.out.Flush()
}

type jsonPrinter struct {
	w      *bufio.Writer
	array  bool
	fields []Field
	names  [][]byte // field names as JSON, with the commas and colons around them
	n      int
}

func (p *jsonPrinter) Header(fields []Field) error {
	p.fields = fields
	for i, f := range fields {
		name := append([]byte(",")[:min(i, 1)], terminal.MarshalJSON(f.Name)...)
		p.names = append(p.names, append(name, ':'))
	}
	return nil
}

func (p *jsonPrinter) Row(values []any) error {
	switch {
	case p.array && p.n == 0:
		p.w.WriteString("[\n")
	case p.array:
		p.w.WriteString(",\n")
	}
	p.n++
	p.w.WriteByte('{')
	for i, v := range values {
		p.w.Write(p.names[i])
		p.value(Exact(v, p.fields[i].Name), p.fields[i].Kind)
	}
	_, err := p.w.WriteString("}")
	if !p.array {
		err = p.w.WriteByte('\n')
	}
	return err
}

// value writes a value as JSON. It writes the most frequent types without the slower encoder.
func (p *jsonPrinter) value(v any, kind string) {
	switch v := v.(type) {
	case int64:
		p.w.Write(strconv.AppendInt(p.w.AvailableBuffer(), v, 10))
		return
	case int32:
		p.w.Write(strconv.AppendInt(p.w.AvailableBuffer(), int64(v), 10))
		return
	case string:
		if !strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }) {
			p.w.WriteByte('"')
			p.w.WriteString(v)
			p.w.WriteByte('"')
			return
		}
	}
	p.w.Write(terminal.MarshalJSON(Plain(v, kind)))
}

func (p *jsonPrinter) Close() error {
	switch {
	case p.array && p.n == 0:
		p.w.WriteString("[]\n")
	case p.array:
		p.w.WriteString("\n]\n")
	}
	return p.w.Flush()
}
