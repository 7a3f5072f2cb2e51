package perfdata

import (
	"bytes"
	"strconv"
)

// tracingMagic begins the descriptions of tracepoints (perf-data 2).
const tracingMagic = "\x17\x08\x44tracing"

// tracepointNames names events without a name by TRACING_DATA: old versions of perf wrote no
// other names into pipes.
func (p *recordParser) tracepointNames(b []byte) {
	nameless := map[uint64][]*event{}
	for _, e := range p.events {
		if e.typ == typeTracepoint && e.name == e.defaultName(p.big) {
			nameless[e.config] = append(nameless[e.config], e)
		}
	}
	b, known := bytes.CutPrefix(b, []byte(tracingMagic))
	if len(nameless) == 0 || !known {
		return
	}
	c := cursorOf(b, p.big)
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

// tracepoint parses the first two lines of a tracepoint's description.
func tracepoint(description []byte) (name string, id uint64) {
	first, rest, _ := bytes.Cut(description, []byte{'\n'})
	second, _, _ := bytes.Cut(rest, []byte{'\n'})
	id, err := strconv.ParseUint(string(bytes.TrimPrefix(second, []byte("ID: "))), 10, 64)
	if name, named := bytes.CutPrefix(first, []byte("name: ")); named && err == nil {
		return text(name), id
	}
	return "", 0
}
