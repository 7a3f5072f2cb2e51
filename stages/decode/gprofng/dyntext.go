package gprofng

import (
	"bytes"

	"stackmill/problem"
	"stackmill/stages/decode"
)

// The records of dyntext (gprofng-experiment 3.6).
const (
	dynHeader = 1
	dynCode   = 2
	dynLines  = 3
	dynSource = 4

	dynRecord     = 8 // type, size
	dynHeaderSize = 24
)

// readDyntext adds instructions, lines and source files to the dynamic
// functions among the image events.
func (e *experiment) readDyntext(data []byte, events []decode.MapEvent) {
	var code *decode.Code
	header := false // was the last record
	for o := 0; o < len(data); {
		rest := data[o:]
		if len(rest) < dynRecord {
			e.report(problem.Error, dyntextFile, int64(o), "truncated", "the file ends inside a record header")
			return
		}
		typ, size := e.order.u32(rest), e.order.u32(rest[4:])
		if size < dynRecord || uint64(size) > uint64(len(rest)) {
			e.report(problem.Error, dyntextFile, int64(o), "bad-packet", "a record of type %d has %d bytes, %d are left", typ, size, len(rest))
			return
		}
		record := rest[:size]
		if header = typ == dynHeader; header {
			code = e.dynamicCode(record, int64(o), events)
		} else if code != nil {
			e.describeCode(code, typ, record[dynRecord:])
		}
		o += int(size)
	}
	if header {
		e.report(problem.Error, dyntextFile, int64(len(data)), "truncated", "the file ends behind a function's header")
	}
}

// dynamicCode finds the function that a header record selects: the one mapped
// at its address at its time.
func (e *experiment) dynamicCode(record []byte, offset int64, events []decode.MapEvent) *decode.Code {
	if len(record) < dynHeaderSize {
		e.report(problem.Error, dyntextFile, offset, "bad-packet", "a header record has %d bytes, not %d", len(record), dynHeaderSize)
		return nil
	}
	time, address := int64(e.order.u64(record[8:])), e.order.u64(record[16:])
	var found *decode.MapEvent
	for i := range events {
		ev := &events[i]
		if ev.Code == nil || ev.Address != address {
			continue
		}
		// The latest that was mapped by then; else the first at all.
		if found == nil || ev.Time <= time && (found.Time > time || ev.Time >= found.Time) {
			found = ev
		}
	}
	if found == nil {
		e.report(problem.Warning, dyntextFile, offset, "unknown-function", "no dynamic function is mapped at %#x", address)
		return nil
	}
	return found.Code
}

func (e *experiment) describeCode(code *decode.Code, typ uint32, content []byte) {
	switch typ {
	case dynCode:
		code.Bytes = bytes.Clone(content)
	case dynLines:
		code.Lines = nil
		for ; len(content) >= 8; content = content[8:] {
			code.Lines = append(code.Lines, decode.CodeLine{Offset: e.order.u32(content), Line: int32(e.order.u32(content[4:]))})
		}
	case dynSource:
		name, _, _ := bytes.Cut(content, []byte{0})
		code.File = text(name)
	}
}
