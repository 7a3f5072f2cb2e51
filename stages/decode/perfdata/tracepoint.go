package perfdata

import (
	"bytes"
	"strconv"
)

// tracingMagic begins the descriptions of tracepoints (perf-data 2).
const tracingMagic = "\x17\x08\x44tracing"

// tracepointNames reads TRACING_DATA: the descriptions of tracepoints. They name events that
// have no name of their own: old versions of perf wrote no others into pipes.
func (r *reader) tracepointNames(b []byte) {
	nameless := map[uint64][]*event{}
	for _, e := range r.events {
		if e.typ == typeTracepoint && e.name == e.defaultName(r.big) {
			nameless[e.config] = append(nameless[e.config], e)
		}
	}
	b, known := bytes.CutPrefix(b, []byte(tracingMagic))
	if len(nameless) == 0 || !known {
		return
	}
	c := cursorOf(b, r.big)
	c.Text() // the version
	c.Big = c.U8() != 0
	c.Bytes(1 + 4) // the sizes of words and pages
	for range 2 {  // the headers of pages and events
		c.Text()
		c.Bytes(c.U64())
	}
	for n := c.U32(); n > 0 && !c.Short; n-- { // the tracer's own records
		c.Bytes(c.U64())
	}
	for systems := c.U32(); systems > 0 && !c.Short; systems-- {
		system := text(c.Text())
		for n := c.U32(); n > 0 && !c.Short; n-- {
			name, id := tracepoint(c.Bytes(c.U64()))
			for _, e := range nameless[id] {
				e.name = system + ":" + name
			}
		}
	}
}

// tracepoint returns what the first two lines of a tracepoint's description say.
func tracepoint(description []byte) (name string, id uint64) {
	first, rest, _ := bytes.Cut(description, []byte{'\n'})
	second, _, _ := bytes.Cut(rest, []byte{'\n'})
	id, err := strconv.ParseUint(string(bytes.TrimPrefix(second, []byte("ID: "))), 10, 64)
	if name, named := bytes.CutPrefix(first, []byte("name: ")); named && err == nil {
		return text(name), id
	}
	return "", 0
}
