// Package tracepoint reads the descriptions of tracepoints that perf stores in TRACING_DATA, and
// uses them to read the fields of samples (perf-data 24.3). It contains no knowledge of single
// events: names, positions and types of fields follow from the description alone, which differs
// between kernels.
package tracepoint

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"stackmill/internal/bytereader"
)

// Formats has the descriptions of a recording's tracepoints.
type Formats struct {
	// Big says that the samples are big-endian, the byte order of the recorded machine.
	Big bool
	// Damages is the number of descriptions of which some fields, or all, cannot be read. Damaged has
	// the names of the first of them.
	Damages int
	Damaged []string
	byID    map[uint64]*Format // nil for an id that several tracepoints have
}

// shownDamaged is the maximum length of Formats.Damaged.
const shownDamaged = 4

// Format describes the samples of a tracepoint.
type Format struct {
	System, Name string
	ID           uint64  // perf_event_attr.config of the event; it differs between boots
	Fields       []Field // in the order of the description
	Print        string  // how the kernel prints the fields: a format and its arguments
	damaged      bool    // some fields cannot be read, and are missing
}

// Field describes a field of a tracepoint.
type Field struct {
	Name, Type   string // Type as declared, without the name: `char[16]`, `__data_loc char[]`
	Offset, Size int    // position and size of the field's fixed part in the sample, in bytes
	Signed       bool
	Elements     int // of an array with a fixed length; 0: the field itself has the length; 1: no array
	ElementSize  int // in bytes
	Location     Location
	Text         bool // the elements are characters
	// Common says that the kernel adds the field to every event.
	Common bool
}

// Location says where the content of a field is.
type Location uint8

// The locations. For dynamic content, the field has the offset and length of the content.
const (
	Fixed    Location = iota // in the field
	Dynamic                  // at an offset from the start of the data (__data_loc)
	Relative                 // at an offset from the end of the field (__rel_loc)
)

const (
	// magic begins the descriptions.
	magic = "\x17\x08\x44tracing"
	// longestField is the maximum size of a field: a record has at most 64 KiB.
	longestField = 1 << 16
	// mostFields is the maximum number of fields of a tracepoint. The kernel's have fewer than 50.
	mostFields = 1 << 10
)

var (
	// ErrUnknown reports data that do not begin with the magic number of perf's descriptions.
	ErrUnknown = errors.New("it does not begin with perf's mark of tracing data")
	// ErrShort reports data that end within a description.
	ErrShort = errors.New("it ends within a description")
)

// Read reads TRACING_DATA. With an error, it also returns the formats read before the error.
func Read(b []byte) (*Formats, error) {
	f := &Formats{byID: map[uint64]*Format{}}
	b, known := bytes.CutPrefix(b, []byte(magic))
	if !known {
		return f, ErrUnknown
	}
	r := bytereader.Reader{Rest: b}
	r.Text() // the version
	f.Big = r.U8() != 0
	r.Big = f.Big
	long := int(r.U8())
	r.Bytes(4)    // the size of a page
	for range 2 { // the headers of pages and events
		r.Text()
		r.Bytes(r.U64())
	}
	for n := r.U32(); n > 0 && !r.Short; n-- { // the formats of ftrace's own records
		r.Bytes(r.U64())
	}
	for systems := r.U32(); systems > 0 && !r.Short; systems-- {
		system := clean(r.Text())
		for n := r.U32(); n > 0 && !r.Short; n-- {
			text := r.Bytes(r.U64())
			if r.Short {
				break
			}
			f.add(system, string(text), long)
		}
	}
	if r.Short {
		return f, ErrShort
	}
	return f, nil
}

// add adds the format that a text describes. If two tracepoints have the same id, a sample does not
// tell which of them it belongs to: neither is kept.
func (f *Formats) add(system, text string, long int) {
	format, ok := parse(text, long)
	format.System = system
	if ok {
		other, known := f.byID[format.ID]
		if known && reflect.DeepEqual(format, other) {
			return
		}
		f.byID[format.ID] = format
		if known {
			f.byID[format.ID], ok = nil, false
		}
	}
	if !ok || format.damaged {
		if f.Damages++; len(f.Damaged) < shownDamaged {
			f.Damaged = append(f.Damaged, format.String())
		}
	}
}

// Of returns the format of a tracepoint by its perf_event_attr.config; nil if it is not described.
func (f *Formats) Of(config uint64) *Format {
	if f == nil {
		return nil
	}
	return f.byID[config]
}

// All calls visit for each format, in no order.
func (f *Formats) All(visit func(*Format)) {
	if f == nil {
		return
	}
	for _, format := range f.byID {
		if format != nil {
			visit(format)
		}
	}
}

// String returns the event's name: `sched:sched_switch`.
func (f *Format) String() string { return f.System + ":" + f.Name }

// Field returns the index of a field by its name, -1 if there is none.
func (f *Format) Field(name string) int {
	for i := range f.Fields {
		if f.Fields[i].Name == name {
			return i
		}
	}
	return -1
}

// parse parses a description; long is the size of C's long in bytes.
func parse(text string, long int) (*Format, bool) {
	f := &Format{}
	named, numbered, common := false, false, true
	names := map[string]int{}
	lines := 0 // of fields
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		key, value, _ := strings.Cut(line, ":")
		switch {
		case key == "name":
			f.Name, named = clean([]byte(strings.TrimSpace(value))), true
		case key == "ID":
			id, err := strconv.ParseUint(strings.TrimSpace(value), 10, 64)
			f.ID, numbered = id, err == nil
		case key == "print fmt":
			f.Print = strings.TrimSpace(line[len(key)+1:])
		case strings.TrimSpace(key) == "field" || strings.TrimSpace(key) == "field special":
			if lines++; lines > mostFields {
				f.damaged = true
				continue
			}
			field, ok := parseField(value, long)
			if !ok || slices.ContainsFunc(f.Fields, field.overlaps) {
				f.damaged = true
				continue
			}
			field.Common, field.Name = common, unique(field.Name, names)
			f.Fields = append(f.Fields, field)
		case line == "" && len(f.Fields) > 0:
			common = false
		}
	}
	return f, named && numbered
}

// unique returns the name, with a number after it if the format has a field of the same name. seen has
// how often each name occurred.
func unique(name string, seen map[string]int) string {
	seen[name]++
	if n := seen[name]; n > 1 {
		return unique(fmt.Sprintf("%s_%d", name, n), seen)
	}
	return name
}

// overlaps reports whether two fields share bytes.
func (f *Field) overlaps(o Field) bool {
	return f.Offset < o.Offset+o.Size && o.Offset < f.Offset+f.Size
}

// parseField parses `DECLARATION; offset:N; size:N; signed:N;`.
func parseField(text string, long int) (f Field, ok bool) {
	parts := strings.Split(text, ";")
	numbers := map[string]int{"offset": -1, "size": -1}
	for _, p := range parts[1:] {
		key, value, _ := strings.Cut(strings.TrimSpace(p), ":")
		if n, err := strconv.Atoi(value); err == nil {
			numbers[key] = n
		}
	}
	f = Field{Offset: numbers["offset"], Size: numbers["size"], Signed: numbers["signed"] != 0, Elements: 1}
	if f.Offset < 0 || f.Offset > longestField || f.Size < 0 || f.Size > longestField {
		return f, false
	}
	return f, f.declare(strings.TrimSpace(clean([]byte(parts[0]))), long)
}

// declare reads the name and the type from a declaration: `char comm[16]`, `__data_loc u64[] list`.
func (f *Field) declare(text string, long int) bool {
	declared, dimension := text, ""
	array := strings.HasSuffix(text, "]")
	if at := strings.LastIndexByte(text, '['); array && at >= 0 {
		declared, dimension = strings.TrimSpace(text[:at]), text[at+1:len(text)-1]
	}
	at := strings.LastIndexAny(declared, " *]") + 1
	kind := strings.TrimSpace(declared[:at])
	f.Name = declared[at:]
	if f.Name == "" {
		return false
	}
	if rest, dynamic := strings.CutPrefix(kind, "__data_loc "); dynamic {
		f.Location, kind = Dynamic, rest
	} else if rest, relative := strings.CutPrefix(kind, "__rel_loc "); relative {
		f.Location, kind = Relative, rest
	}
	element, list := strings.CutSuffix(strings.TrimSpace(kind), "[]")
	if element = strings.TrimSpace(element); element == "" {
		return false
	}
	array = array || list
	f.Type = kind
	if array && !list {
		f.Type += "[" + dimension + "]"
	}
	switch f.Location {
	case Dynamic:
		f.Type = "__data_loc " + f.Type
	case Relative:
		f.Type = "__rel_loc " + f.Type
	}
	f.Text = array && (element == "char" || element == "const char")
	f.Elements, f.ElementSize = 1, f.Size
	switch {
	case f.Location != Fixed:
		f.Elements, f.ElementSize = 0, sizeOf(element, long)
		return f.Size == 4
	case array:
		f.ElementSize = sizeOf(element, long)
		if n, err := strconv.Atoi(dimension); err == nil && n > 0 && f.Size%n == 0 { // otherwise a macro of the kernel
			f.ElementSize = f.Size / n
		}
		f.Elements = f.Size / max(f.ElementSize, 1)
	}
	return true
}

// sizeOf returns the size of a C type in bytes, 1 if it is unknown.
func sizeOf(element string, long int) int {
	if strings.HasSuffix(element, "*") {
		return long
	}
	words := strings.Fields(element)
	switch words[len(words)-1] {
	case "short", "u16", "s16", "__u16", "__s16":
		return 2
	case "int", "unsigned", "u32", "s32", "__u32", "__s32", "pid_t":
		return 4
	case "u64", "s64", "__u64", "__s64":
		return 8
	case "long":
		if strings.HasSuffix(element, "long long") {
			return 8
		}
		return long
	}
	return 1
}

// clean returns the bytes as valid UTF-8.
func clean(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }
