package gprofng

import (
	"bytes"
	"fmt"

	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
)

// The records of dyntext (gprofng-experiment 3.6).
const (
	dynHeader = 1
	dynCode   = 2
	dynLines  = 3
	dynSource = 4

	dynRecord     = 8 // size of a record's header: type, size
	dynHeaderSize = 24
)

// Limits of the code that is stored. The largest functions of JIT compilers have a few MB.
const (
	maxCode    = 16 << 20
	maxAllCode = 128 << 20
	maxLines   = 1 << 20
	// codePadding is how much longer code may be than its function.
	codePadding = 64
)

// dynReader adds instructions, lines and source files to the dynamic functions of an image.
type dynReader struct {
	e         *experiment
	events    []decode.MapEvent
	byAddress map[uint64][]int // address -> indexes in events of the dynamic functions mapped there
	function  *decode.MapEvent
	kept      int // bytes of instructions kept so far
}

func (e *experiment) readDyntext(data []byte, events []decode.MapEvent) {
	r := &dynReader{e: e, events: events, byAddress: map[uint64][]int{}}
	for i := range events {
		if events[i].Code != nil {
			r.byAddress[events[i].Address] = append(r.byAddress[events[i].Address], i)
		}
	}
	header := false // the last record was a header
	for o := 0; o < len(data); {
		rest := data[o:]
		if len(rest) < dynRecord {
			e.report(diagnostic.Error, dyntextFile, int64(o), "truncated", "the file ends inside a record header")
			return
		}
		typ, size := e.order.u32(rest), e.order.u32(rest[4:])
		if size < dynRecord || uint64(size) > uint64(len(rest)) {
			e.report(diagnostic.Error, dyntextFile, int64(o), "bad-packet", "a record of type %d has %d bytes, %d are left", typ, size, len(rest))
			return
		}
		record := rest[:size]
		if header = typ == dynHeader; header {
			r.header(record, int64(o))
		} else if r.function != nil {
			r.describe(typ, record[dynRecord:], int64(o))
		}
		o += int(size)
	}
	if header {
		e.report(diagnostic.Error, dyntextFile, int64(len(data)), "truncated", "the file ends after a function's header")
	}
}

// header selects the function of a header record: the one mapped at its address and time.
func (r *dynReader) header(record []byte, offset int64) {
	e := r.e
	r.function = nil
	if len(record) < dynHeaderSize {
		e.report(diagnostic.Error, dyntextFile, offset, "bad-packet", "a header record has %d bytes, not %d", len(record), dynHeaderSize)
		return
	}
	time, address := int64(e.order.u64(record[8:])), e.order.u64(record[16:])
	for _, i := range r.byAddress[address] {
		// Take the last function mapped before the record's time; if there is none, the first of
		// all.
		ev, found := &r.events[i], r.function
		if found == nil || ev.Time <= time && (found.Time > time || ev.Time >= found.Time) {
			r.function = ev
		}
	}
	if r.function == nil {
		e.report(diagnostic.Warning, dyntextFile, offset, "unknown-function", "no dynamic function is mapped at %#x", address)
	}
}

// describe adds a record's content to the function.
func (r *dynReader) describe(typ uint32, content []byte, offset int64) {
	code := r.function.Code
	switch typ {
	case dynCode:
		n := min(uint64(len(content)), max(r.function.Size, r.function.Size+codePadding))
		if n > maxCode || r.kept+int(n) > maxAllCode {
			r.e.report(diagnostic.Error, dyntextFile, offset, "too-long-code", "the %d bytes of instructions at %#x are too many and are left out", n, r.function.Address)
			return
		}
		r.kept += int(n)
		code.Bytes = bytes.Clone(content[:n])
	case dynLines:
		code.Lines = nil
		for ; len(content) >= 8 && len(code.Lines) < maxLines; content = content[8:] {
			code.Lines = append(code.Lines, decode.CodeLine{Offset: r.e.order.u32(content), Line: int32(r.e.order.u32(content[4:]))})
		}
	case dynSource:
		name, _, _ := bytes.Cut(content[:min(len(content), maxPath)], []byte{0})
		code.File = text(name)
	default:
		r.e.opener.unused.add(unusedRecord, dyntextFile, fmt.Sprintf("a record of type %d", typ), 1)
	}
}

// maxPath is the longest path that systems allow.
const maxPath = 4096
