package gprofng

import (
	"io"
	"math"
	"strings"

	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
	"stackmill/stages/decode/bounds"
)

// Pseudo objects and marks in map events (gprofng-experiment 2.6).
const (
	unresolvable    = "Unresolvable"
	checksumUnknown = math.MaxUint32
)

// mapReader turns map and unmap events into image events.
type mapReader struct {
	e       *experiment
	events  []decode.MapEvent
	pending []decode.CodeFunction // announced functions of the next dynamic region
	kept    int                   // number of kept events and functions
	dropped int64                 // number of events beyond maxMaps
	paths   map[string]string     // equal paths share one string
}

// maxMaps is the maximum number of events in a process's map. Linux allows a process a quarter of
// that number of mappings at a time.
const maxMaps = 1 << 18

// hasRoom reports whether one more event may be kept. If not, it counts the event as dropped.
func (m *mapReader) hasRoom() bool {
	if m.kept == maxMaps {
		m.dropped++
		return false
	}
	m.kept++
	return true
}

// internPath returns a path that shares its memory with equal paths.
func (m *mapReader) internPath(name string) string {
	if m.paths == nil {
		m.paths = map[string]string{}
	}
	if known, ok := m.paths[name]; ok {
		return known
	}
	m.paths[name] = name
	return name
}

// readMap reads map.xml.
func (e *experiment) readMap(in io.Reader, size int64, maps *mapReader) {
	e.readXML(mapFile, in, size, func(t *tag) {
		switch {
		case t.closes:
		case t.name == "event":
			maps.event(mapFile, t)
		default:
			t.ignored = true
			e.report(diagnostic.Info, mapFile, t.offset, "unknown-element", "the element %s is unknown; it is ignored", t.name)
		}
	}, func() bool { return true })
	if maps.dropped > 0 {
		e.reporter(mapFile)(diagnostic.Error, diagnostic.NoOffset, "too-many-maps", "the map has too many events; these are left out", maps.dropped)
	}
}

// numberReader reads the attributes of an event, and keeps the first error. The caller then drops
// the event.
type numberReader struct {
	t   *tag
	bad string
	err error
}

func (n *numberReader) unsigned(name string, needed bool) uint64 {
	s := n.t.get(name)
	if s == "" && !needed {
		return 0
	}
	v, err := parseUnsigned(s)
	if err != nil && n.err == nil {
		n.bad, n.err = name, err
	}
	return v
}

func (n *numberReader) time() int64 {
	s := n.t.get("tstamp")
	if s == "" {
		return 0
	}
	v, err := parseTime(s)
	if err != nil && n.err == nil {
		n.bad, n.err = "tstamp", err
	}
	return v
}

// event reads an event. It drops an event with an unreadable number: a misplaced mapping is worse
// than none.
func (m *mapReader) event(file string, t *tag) {
	n := &numberReader{t: t}
	ev := decode.MapEvent{Address: n.unsigned("vaddr", true), Time: n.time()}
	kind, object := t.get("kind"), t.get("object")
	if kind == "map" {
		ev.Size = n.unsigned("size", true)
	}
	keep := true
	switch {
	case kind == "unmap":
		ev.Unmap = true
	case kind != "map":
		m.remark(file, t, "unknown-event", "events of kind "+kind+" are unknown; this one is ignored")
		return
	case object == "segment":
		keep = m.segment(file, n, &ev)
	case object == "dynfunc":
		if keep = false; n.err == nil && m.hasRoom() {
			m.pending = append(m.pending, decode.CodeFunction{Name: t.get("funcname"), Address: ev.Address, Size: ev.Size})
		}
	case object == "function":
		m.function(t, &ev)
	case object == "jcm":
		ev.Path, ev.Modes = decode.GeneratedPath, modeRead|modeExecute
		ev.Code = &decode.Code{Method: n.unsigned("methodId", true)}
	default:
		m.remark(file, t, "unknown-event", "map events of objects "+object+" are unknown; this one is ignored")
		return
	}
	if n.err != nil {
		m.e.report(diagnostic.Error, file, t.offset, "bad-number", "%s of the %s event: %v; the event is dropped", n.bad, kind, n.err)
	} else if keep && m.fitsMemory(file, t, &ev) && m.hasRoom() {
		m.events = append(m.events, ev)
	}
}

// fitsMemory reports whether a mapping fits into the process's memory. If a mapping with too large
// a size were kept, addresses of later mappings would belong to it.
func (m *mapReader) fitsMemory(file string, t *tag, ev *decode.MapEvent) bool {
	l := &m.e.log
	if most, ok := bounds.MappingFits(l.arch, l.wordBits, ev.Address, ev.Size); !ok {
		var left bounds.Outliers
		left.Add("the size of a mapping of "+ev.Path, " bytes", t.offset, ev.Size, 1, most)
		left.Report(m.e.reporter(file))
		return false
	}
	return true
}

func (m *mapReader) remark(file string, t *tag, reason, message string) {
	t.ignored = true
	m.e.report(diagnostic.Info, file, t.offset, reason, "%s", message)
}

// segment reads the mapping of a file. It returns false if the mapping has no usable name.
func (m *mapReader) segment(file string, n *numberReader, ev *decode.MapEvent) bool {
	ev.Path = m.internPath(n.t.get("name"))
	ev.FileOffset = n.unsigned("foffset", false)
	ev.Modes = int(n.unsigned("modes", false))
	if sum := n.unsigned("chksum", false); sum < checksumUnknown {
		ev.Checksum = uint32(sum)
	}
	if len(ev.Path) > 1 && strings.HasPrefix(ev.Path[1:], unresolvable) {
		m.remark(file, n.t, "unresolvable-mapping", "the collector could not name this mapping; it is ignored")
		return false
	}
	return true
}

// function reads a region of generated code. The region is one function, or it has the functions
// announced before it.
func (m *mapReader) function(t *tag, ev *decode.MapEvent) {
	ev.Path, ev.Modes, ev.Code = t.get("name"), modeRead|modeExecute, &decode.Code{}
	if len(m.pending) > 0 {
		ev.Code.Functions, m.pending = m.pending, nil
	} else {
		ev.Code.Function = ev.Path
	}
	if !strings.HasPrefix(ev.Path, "[") {
		ev.Path = decode.GeneratedPath
	}
}
