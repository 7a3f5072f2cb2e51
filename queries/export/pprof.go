package export

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
	"google.golang.org/protobuf/encoding/protowire"

	"stackmill/schema"
)

// Field numbers of the message Profile in profile.proto.
const (
	profileSampleType    protowire.Number = 1
	profileSample        protowire.Number = 2
	profileMapping       protowire.Number = 3
	profileLocation      protowire.Number = 4
	profileFunction      protowire.Number = 5
	profileString        protowire.Number = 6
	profileTime          protowire.Number = 9
	profileDuration      protowire.Number = 10
	profileComment       protowire.Number = 13
	profileDefaultMetric protowire.Number = 14
)

// pprofUnits maps units to pprof's names for them.
var pprofUnits = map[string]string{"ns": "nanoseconds"}

// pprofWriter writes a profile while it reads the samples. It writes what a sample refers to before the sample, once,
// and keeps only the ids of it in memory.
type pprofWriter struct {
	*selection
	namesOnly   bool // for PGO: write names of functions and lines, but no paths, addresses and labels
	compressed  *gzip.Writer
	out         *bufio.Writer // writes to compressed
	strings     *stringTable
	mappings    map[mappingKey]uint64
	segments    map[int64][]segment // by load object id: the mappings used so far
	functions   map[functionKey]uint64
	locations   map[string]uint64
	locationIDs []uint64 // by location number of the current experiment; 0: not written yet
	noStackID   uint64   // id of the location for samples without a stack; 0: not written yet
	ids         uint64   // the latest id
	started     int64
	duration    int64
	e           *experiment
}

type mappingKey struct {
	object  int64
	segment segment
}

type functionKey struct {
	id         int64
	name, file string
}

func writePprof(ctx context.Context, s *selection, w io.Writer) error {
	return newPprofWriter(s, w).profile(ctx, s.metrics)
}

// writePGO writes a profile for Go's compiler. The compiler requires a sample type named `samples` and weighs calls
// by its values. The profile is meant to be kept with the sources.
func writePGO(ctx context.Context, s *selection, w io.Writer) error {
	p := newPprofWriter(s, w)
	p.namesOnly = true
	return p.profile(ctx, []metric{{"samples", "count"}})
}

func newPprofWriter(s *selection, w io.Writer) *pprofWriter {
	z := gzip.NewWriter(w)
	p := &pprofWriter{selection: s, compressed: z, out: bufio.NewWriter(z), mappings: map[mappingKey]uint64{}, segments: map[int64][]segment{},
		functions: map[functionKey]uint64{}, locations: map[string]uint64{}}
	p.strings = &stringTable{p.out, profileString, map[string]int64{}}
	return p
}

// profile writes the whole profile, with these metrics as sample types.
func (p *pprofWriter) profile(ctx context.Context, types []metric) error {
	p.strings.intern("")
	for _, t := range types {
		p.write(profileSampleType, p.pair(t.name, pprofUnit(t.unit)))
	}
	if err := p.send(ctx, p); err != nil {
		return err
	}
	var end message
	end.number(profileTime, p.started)
	end.number(profileDuration, p.duration)
	for _, text := range append([]string{p.comment()}, p.leftOut...) {
		end.number(profileComment, p.strings.intern(text))
	}
	end.number(profileDefaultMetric, p.strings.intern(types[0].name))
	if _, err := p.out.Write(end); err != nil {
		return err
	}
	if err := p.out.Flush(); err != nil {
		return err
	}
	return p.compressed.Close()
}

// comment returns text that says what made the profile.
func (s *selection) comment() string {
	if s.rows != nil {
		return "stackmill query"
	}
	return fmt.Sprintf("stackmill export, %s mode", s.mode)
}

func pprofUnit(unit string) string {
	if name, ok := pprofUnits[unit]; ok {
		return name
	}
	return unit
}

// pair returns a message with two strings: a sample type or a label.
func (p *pprofWriter) pair(first, second string) (m message) {
	m.number(1, p.strings.intern(first))
	m.number(2, p.strings.intern(second))
	return m
}

// write writes a field of the profile. An error is kept until the final Flush.
func (p *pprofWriter) write(field protowire.Number, content message) {
	var m message
	m.bytes(field, content)
	_, _ = p.out.Write(m)
}

func (p *pprofWriter) begin(e *experiment) error {
	if at := e.started.UnixNano(); !e.started.IsZero() && (p.started == 0 || at < p.started) {
		p.started = at
	}
	p.duration = min(p.duration, math.MaxInt64-e.duration) + e.duration
	p.e, p.locationIDs = e, p.locationIDs[:0]
	if len(p.mappings) == 0 && !p.namesOnly { // readers assume that the first mapping is the program
		if o := e.program(); o != nil {
			p.mapping(o, slices.Concat(o.segments, []segment{{}})[0])
		}
	}
	return nil
}

func (p *pprofWriter) sample(s *sample) error {
	var path, values, m message
	for i := len(s.path) - 1; i >= 0; i-- {
		path.packed(p.location(s.path[i]))
	}
	if len(s.path) == 0 {
		path.packed(p.noStack())
	}
	for _, v := range s.values {
		values.packed(uint64(v))
	}
	m.bytes(1, path)
	m.bytes(2, values)
	if err := p.labels(&m, s); err != nil {
		return fmt.Errorf("labels of a sample of %s: %w", p.e.name, err)
	}
	p.write(profileSample, m)
	return nil
}

// labels adds labels to the message of a sample.
func (p *pprofWriter) labels(m *message, s *sample) error {
	if p.namesOnly {
		return nil
	}
	for _, l := range p.labelsOf(s) {
		m.bytes(3, p.pair(l[0], l[1]))
	}
	return p.recordedLabels(m, s.labels)
}

// noStack returns the id of the location for samples without a stack.
func (p *pprofWriter) noStack() uint64 {
	if p.noStackID == 0 {
		p.noStackID = p.writeLocation(0, 0, []level{{function: &function{name: noStack}}})
	}
	return p.noStackID
}

// location returns the id of a location, and writes the location if it is new. Equal locations in different
// experiments have the same id.
func (p *pprofWriter) location(n int32) uint64 {
	if grown := len(p.e.locations) - len(p.locationIDs); grown > 0 {
		p.locationIDs = append(p.locationIDs, make([]uint64, grown)...)
	}
	if id := p.locationIDs[n]; id != 0 {
		return id
	}
	l := &p.e.locations[n]
	var key []byte
	if !p.namesOnly {
		key = strconv.AppendInt(key, l.id, 36)
	}
	for _, v := range l.levels {
		key = fmt.Appendf(key, "\x00%s\x00%s\x00%d", v.function.name, v.file, v.line)
	}
	id, ok := p.locations[string(key)]
	if !ok {
		var mapping, address uint64
		if l.object != nil && !p.namesOnly {
			var at segment
			at, address = p.address(l)
			if l.object.isMapped() {
				mapping = p.mapping(l.object, at)
			}
		}
		id = p.writeLocation(mapping, address, l.levels)
		p.locations[string(key)] = id
	}
	p.locationIDs[n] = id
	return id
}

// address returns the address of an instruction as if all processes had its load object at the same address, and the
// mapping there.
func (p *pprofWriter) address(l *location) (segment, uint64) {
	if l.offset >= schema.NoFileOffset { // the offset in the load object is unknown
		return slices.Concat(l.object.segments, []segment{{}})[0], 0
	}
	known := p.segments[l.object.id]
	if s, ok := segmentOf(known, l.offset); ok {
		return s, s.address + uint64(l.offset) - s.offset
	}
	if s, ok := segmentOf(l.object.segments, l.offset); ok {
		p.segments[l.object.id] = append(known, s)
		return s, s.address + uint64(l.offset) - s.offset
	}
	if l.object.name == unknownObject || p.e.labeled && l.object.name == generatedCode {
		return segment{}, uint64(l.offset) // for such code, offset is the address
	}
	return segment{}, 0
}

// segmentOf returns the first mapping that contains an offset of a file.
func segmentOf(list []segment, offset int64) (s segment, ok bool) {
	at := slices.IndexFunc(list, func(s segment) bool { return uint64(offset) >= s.offset && uint64(offset)-s.offset < s.size })
	if at < 0 {
		return s, false
	}
	return list[at], true
}

func (p *pprofWriter) writeLocation(mapping, address uint64, levels []level) uint64 {
	var m message
	id := p.id()
	m.number(1, int64(id))
	m.number(2, int64(mapping))
	m.number(3, int64(address))
	for i := len(levels) - 1; i >= 0; i-- { // the format has the innermost function first
		var line message
		line.number(1, int64(p.function(&levels[i])))
		line.number(2, levels[i].line)
		m.bytes(4, line)
	}
	p.write(profileLocation, m)
	return id
}

func (p *pprofWriter) function(l *level) uint64 {
	file := cmp.Or(l.file, l.function.source())
	if p.namesOnly {
		file = ""
	}
	key := functionKey{l.function.id, l.function.name, file}
	id, ok := p.functions[key]
	if !ok {
		id = p.id()
		p.functions[key] = id
		linkage := l.function.linkage
		// If both names are equal, pprof takes <Blocked> for a C++ template's arguments, and removes it.
		if linkage == "" && !strings.HasPrefix(l.function.name, "<") {
			linkage = l.function.name
		}
		var m message
		m.number(1, int64(id))
		m.number(2, p.strings.intern(l.function.name))
		m.number(3, p.strings.intern(linkage))
		m.number(4, p.strings.intern(file))
		m.number(5, l.function.start)
		p.write(profileFunction, m)
	}
	return id
}

func (p *pprofWriter) mapping(o *object, at segment) uint64 {
	key := mappingKey{o.id, at}
	id, ok := p.mappings[key]
	if !ok {
		id = p.id()
		p.mappings[key] = id
		path := o.path
		if path == "" {
			path = o.name
		}
		var m message
		m.number(1, int64(id))
		m.number(2, int64(at.address))
		m.number(3, int64(at.address+at.size))
		m.number(4, int64(at.offset))
		m.number(5, p.strings.intern(path))
		m.number(6, p.strings.intern(o.buildID))
		for has := protowire.Number(7); has <= 10; has++ { // has_functions, has_filenames, has_line_numbers, has_inline_frames: pprof need not symbolize
			m.number(has, 1)
		}
		p.write(profileMapping, m)
	}
	return id
}

func (p *pprofWriter) id() uint64 { p.ids++; return p.ids }
