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

	"github.com/klauspost/compress/gzip"
	"google.golang.org/protobuf/encoding/protowire"

	"stackmill/schema"
)

// The fields of the messages of profile.proto.
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

// pprofUnits are the names of units that pprof knows.
var pprofUnits = map[string]string{"ns": "nanoseconds"}

// pprof writes a profile while it is read: what a sample refers to comes before it, once,
// so that only that is kept in memory.
type pprof struct {
	*selection
	bare      bool // names and lines alone: nothing of where files were, or of single samples
	packed    *gzip.Writer
	out       *bufio.Writer // into that
	strings   *stringTable
	mappings  map[mappingKey]uint64
	places    map[int64][]segment // of load objects
	functions map[functionKey]uint64
	locations map[string]uint64
	numbers   []uint64 // of the experiment's locations, by their number; 0: not written yet
	none      uint64   // the location of samples without a stack
	ids       uint64   // the last of all
	started   int64
	duration  int64
	e         *experiment
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
	return newPprof(s, w).profile(ctx, s.metrics)
}

// writePGO writes a profile for Go's compiler, which takes the values of this type for how
// much a call matters, and needs one of that name. It is made to be kept with the sources.
func writePGO(ctx context.Context, s *selection, w io.Writer) error {
	p := newPprof(s, w)
	p.bare = true
	return p.profile(ctx, []metric{{"samples", "count"}})
}

func newPprof(s *selection, w io.Writer) *pprof {
	z := gzip.NewWriter(w)
	p := &pprof{selection: s, packed: z, out: bufio.NewWriter(z), mappings: map[mappingKey]uint64{}, places: map[int64][]segment{},
		functions: map[functionKey]uint64{}, locations: map[string]uint64{}}
	p.strings = &stringTable{p.out, profileString, map[string]int64{}}
	return p
}

// profile writes the metrics, as types of samples.
func (p *pprof) profile(ctx context.Context, types []metric) error {
	p.strings.of("")
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
		end.number(profileComment, p.strings.of(text))
	}
	end.number(profileDefaultMetric, p.strings.of(types[0].name))
	if _, err := p.out.Write(end); err != nil {
		return err
	}
	if err := p.out.Flush(); err != nil {
		return err
	}
	return p.packed.Close()
}

// comment says where a profile is from.
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

// pair is a message of a type or label: two strings.
func (p *pprof) pair(first, second string) (m message) {
	m.number(1, p.strings.of(first))
	m.number(2, p.strings.of(second))
	return m
}

// write writes a field of the profile; an error is kept for the end.
func (p *pprof) write(field protowire.Number, content message) {
	var m message
	m.bytes(field, content)
	_, _ = p.out.Write(m)
}

func (p *pprof) begin(e *experiment) error {
	if at := e.started.UnixNano(); !e.started.IsZero() && (p.started == 0 || at < p.started) {
		p.started = at
	}
	p.duration = min(p.duration, math.MaxInt64-e.duration) + e.duration
	p.e, p.numbers = e, p.numbers[:0]
	if len(p.mappings) == 0 && !p.bare { // readers take the first for the program
		if o := e.program(); o != nil {
			p.mapping(o, slices.Concat(o.segments, []segment{{}})[0])
		}
	}
	return nil
}

func (p *pprof) sample(s *sample) error {
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

// labels adds the labels of a sample.
func (p *pprof) labels(m *message, s *sample) error {
	if p.bare {
		return nil
	}
	for _, l := range p.labelsOf(s) {
		m.bytes(3, p.pair(l[0], l[1]))
	}
	return p.recorded(m, s.labels)
}

// noStack returns the location of samples without a stack.
func (p *pprof) noStack() uint64 {
	if p.none == 0 {
		p.none = p.place(0, 0, []level{{function: &function{name: noStack}}})
	}
	return p.none
}

// location returns the identifier of a location, which is the same in each experiment
// where it means the same.
func (p *pprof) location(n int32) uint64 {
	if grown := len(p.e.locations) - len(p.numbers); grown > 0 {
		p.numbers = append(p.numbers, make([]uint64, grown)...)
	}
	if id := p.numbers[n]; id != 0 {
		return id
	}
	l := &p.e.locations[n]
	var key []byte
	if !p.bare {
		key = strconv.AppendInt(key, l.id, 36)
	}
	for _, v := range l.levels {
		key = fmt.Appendf(key, "\x00%s\x00%s\x00%d", v.function.name, v.file, v.line)
	}
	id, ok := p.locations[string(key)]
	if !ok {
		var mapping, address uint64
		if l.object != nil && !p.bare {
			var at segment
			at, address = p.address(l)
			if l.object.mapped() {
				mapping = p.mapping(l.object, at)
			}
		}
		id = p.place(mapping, address, l.levels)
		p.locations[string(key)] = id
	}
	p.numbers[n] = id
	return id
}

// address returns where an instruction was in memory: of a load object that was mapped at
// several places, at the first of them.
func (p *pprof) address(l *location) (segment, uint64) {
	if l.offset >= schema.NoFileOffset { // somewhere in the load object
		return slices.Concat(l.object.segments, []segment{{}})[0], 0
	}
	known := p.places[l.object.id]
	if s, ok := segmentOf(known, l.offset); ok {
		return s, s.address + uint64(l.offset) - s.offset
	}
	if s, ok := segmentOf(l.object.segments, l.offset); ok {
		p.places[l.object.id] = append(known, s)
		return s, s.address + uint64(l.offset) - s.offset
	}
	if l.object.name == unknownObject || p.e.labelled && l.object.name == generatedCode {
		return segment{}, uint64(l.offset) // the PC itself
	}
	return segment{}, 0
}

// segmentOf returns the first segment that holds an offset in the file.
func segmentOf(list []segment, offset int64) (s segment, ok bool) {
	at := slices.IndexFunc(list, func(s segment) bool { return uint64(offset) >= s.offset && uint64(offset)-s.offset < s.size })
	if at < 0 {
		return s, false
	}
	return list[at], true
}

// place writes a location.
func (p *pprof) place(mapping, address uint64, levels []level) uint64 {
	var m message
	id := p.id()
	m.number(1, int64(id))
	m.number(2, int64(mapping))
	m.number(3, int64(address))
	for i := len(levels) - 1; i >= 0; i-- { // the innermost first
		var line message
		line.number(1, int64(p.function(&levels[i])))
		line.number(2, levels[i].line)
		m.bytes(4, line)
	}
	p.write(profileLocation, m)
	return id
}

func (p *pprof) function(l *level) uint64 {
	file := cmp.Or(l.file, l.function.source())
	if p.bare {
		file = ""
	}
	key := functionKey{l.function.id, l.function.name, file}
	id, ok := p.functions[key]
	if !ok {
		id = p.id()
		p.functions[key] = id
		linkage := l.function.linkage
		if linkage == "" {
			linkage = l.function.name
		}
		var m message
		m.number(1, int64(id))
		m.number(2, p.strings.of(l.function.name))
		m.number(3, p.strings.of(linkage))
		m.number(4, p.strings.of(file))
		m.number(5, l.function.start)
		p.write(profileFunction, m)
	}
	return id
}

func (p *pprof) mapping(o *object, at segment) uint64 {
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
		m.number(5, p.strings.of(path))
		m.number(6, p.strings.of(o.buildID))
		for has := protowire.Number(7); has <= 10; has++ { // functions, files, lines, inlined: nothing is to be looked up
			m.number(has, 1)
		}
		p.write(profileMapping, m)
	}
	return id
}

func (p *pprof) id() uint64 { p.ids++; return p.ids }
