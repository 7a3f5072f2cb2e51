package main

import (
	"bufio"
	"bytes"
	"database/sql"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	duckdb "github.com/duckdb/duckdb-go/v2"
)

// field is a column of a result.
type field struct {
	name    string
	kind    string // DuckDB's name of the type
	numeric bool
	short   bool // whether tables take out the middle of long texts
	whole   bool // whether they do not, even if that makes rows wider than the terminal
}

// printer prints a result row by row.
type printer interface {
	header(fields []field) error
	row(values []any) error
	close() error
}

// newPrinter returns the printer of a format: table, markdown, csv, json or
// ndjson.
func (a *app) newPrinter(format string) printer {
	w := bufio.NewWriter(a.stdout)
	switch format {
	case "csv":
		return &csvPrinter{out: w, w: csv.NewWriter(w), escape: isTerminal(a.stdout)}
	case "json":
		return &jsonPrinter{w: w, array: true}
	case "ndjson":
		return &jsonPrinter{w: w}
	}
	return &tablePrinter{app: a, markdown: format == "markdown"}
}

// printRows prints a whole result.
func printRows(p printer, rows *sql.Rows) error {
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		return err
	}
	if err := p.header(fieldsOf(types)); err != nil {
		return err
	}
	values, targets := make([]any, len(types)), make([]any, len(types))
	for i := range values {
		targets[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		if err := p.row(values); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return p.close()
}

// fieldsOf describes the columns; a name used twice gets a number, so that no
// value of a JSON object hides another.
func fieldsOf(types []*sql.ColumnType) []field {
	fields := make([]field, len(types))
	seen := map[string]int{}
	for i, t := range types {
		name := t.Name()
		if n := seen[name]; n > 0 {
			name = fmt.Sprintf("%s_%d", name, n)
		}
		seen[t.Name()]++
		kind, _, _ := strings.Cut(t.DatabaseTypeName(), "(")
		fields[i] = field{name: name, kind: kind, numeric: numericKinds[kind]}
	}
	return fields
}

var numericKinds = map[string]bool{
	"TINYINT": true, "SMALLINT": true, "INTEGER": true, "BIGINT": true, "HUGEINT": true, "UTINYINT": true, "USMALLINT": true,
	"UINTEGER": true, "UBIGINT": true, "UHUGEINT": true, "FLOAT": true, "DOUBLE": true, "DECIMAL": true,
}

// plain converts a value to one that JSON can hold.
func plain(v any, kind string) any {
	switch v := v.(type) {
	case time.Time:
		switch kind {
		case "DATE":
			return v.Format(time.DateOnly)
		case "TIME":
			return v.Format("15:04:05.999999")
		}
		return v.Format(time.RFC3339Nano)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
	case float32:
		return plain(float64(v), kind)
	case []byte:
		if u := (duckdb.UUID{}); kind == "UUID" && len(v) == len(u) {
			copy(u[:], v)
			return u.String()
		}
		return hex.EncodeToString(v)
	case duckdb.Interval:
		return fmt.Sprintf("P%dM%dDT%gS", v.Months, v.Days, float64(v.Micros)/1e6)
	case duckdb.Decimal:
		return json.Number(v.String())
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = plain(v[i], "")
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k := range v {
			out[k] = plain(v[k], "")
		}
		return out
	case json.Marshaler, nil, bool, string, int8, int16, int32, int64, uint8, uint16, uint32, uint64:
	default:
		return fmt.Sprint(v)
	}
	return v
}

// cell is a value's text for people and CSV; a missing value is empty.
func cell(v any, kind string) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return floating(v)
	}
	switch p := plain(v, kind).(type) {
	case string:
		return p
	case []any, map[string]any:
		return string(marshal(p))
	default:
		return fmt.Sprint(p)
	}
}

// floating writes a number as JSON has it: with an exponent only if it is very small or large.
func floating(v float64) string {
	format := byte('f')
	if a := math.Abs(v); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'g'
	}
	return strconv.FormatFloat(v, format, -1, 64)
}

// printJSON prints a value, on a line or indented for people.
func (a *app) printJSON(v any, indented bool) error {
	text := marshal(v)
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

// marshal is json.Marshal without escapes for HTML, but with escapes for invisible
// characters: these mean the same, and do nothing to a terminal.
func marshal(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return []byte("null")
	}
	return visible(bytes.TrimSpace(b.Bytes()))
}

// visible escapes the characters of JSON that a terminal does not show.
func visible(text []byte) []byte {
	if !bytes.ContainsFunc(text, func(c rune) bool { return !isVisible(c) }) {
		return text
	}
	out := make([]byte, 0, len(text)+16)
	for _, c := range string(text) {
		switch {
		case isVisible(c) || c == '\n':
			out = utf8.AppendRune(out, c)
		case c < 1<<16:
			out = fmt.Appendf(out, `\u%04x`, c)
		default:
			high, low := utf16.EncodeRune(c)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		}
	}
	return out
}

type csvPrinter struct {
	out    *bufio.Writer
	w      *csv.Writer
	escape bool // on a terminal; files have the texts as they are
	fields []field
}

func (p *csvPrinter) header(fields []field) error {
	p.fields = fields
	names := make([]string, len(fields))
	for i, f := range fields {
		if names[i] = f.name; p.escape {
			names[i] = printable(f.name)
		}
	}
	return p.w.Write(names)
}

func (p *csvPrinter) row(values []any) error {
	record := make([]string, len(values))
	for i, v := range values {
		if record[i] = cell(v, p.fields[i].kind); p.escape {
			record[i] = printable(record[i])
		}
	}
	if len(record) == 1 && record[0] == "" { // or readers would skip the line
		p.w.Flush()
		_, err := p.out.WriteString("\"\"\n")
		return err
	}
	return p.w.Write(record)
}

func (p *csvPrinter) close() error {
	p.w.Flush()
	if err := p.w.Error(); err != nil {
		return err
	}
	return p.out.Flush()
}

// jsonPrinter prints an array of objects, or one object per line.
type jsonPrinter struct {
	w      *bufio.Writer
	array  bool
	fields []field
	names  [][]byte // with the punctuation before and after
	n      int
}

func (p *jsonPrinter) header(fields []field) error {
	p.fields = fields
	for i, f := range fields {
		name := append([]byte(",")[:min(i, 1)], marshal(f.name)...)
		p.names = append(p.names, append(name, ':'))
	}
	return nil
}

func (p *jsonPrinter) row(values []any) error {
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
		p.value(exact(v, p.fields[i].name), p.fields[i].kind)
	}
	_, err := p.w.WriteString("}")
	if !p.array {
		err = p.w.WriteByte('\n')
	}
	return err
}

// value writes the most frequent types without the encoder.
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
	p.w.Write(marshal(plain(v, kind)))
}

func (p *jsonPrinter) close() error {
	switch {
	case p.array && p.n == 0:
		p.w.WriteString("[]\n")
	case p.array:
		p.w.WriteString("\n]\n")
	}
	return p.w.Flush()
}
