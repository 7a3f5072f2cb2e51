package perfdata

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"
	"time"

	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
	"stackmill/stages/loadobject/isa"
)

// The features that are used (perf-data 2).
const (
	featureTracing   = 1
	featureBuildID   = 2
	featureOSRelease = 4
	featureVersion   = 5
	featureArch      = 6
	featureCPUs      = 7
	featureCmdline   = 11
	featureEventDesc = 12
	featurePMUs      = 16
	featureGroups    = 17
	featureCache     = 20
	featureTimes     = 21
	featurePrograms  = 25
	featureTypes     = 26
	featurePMUCaps   = 28
	featureClockData = 29

	featureSimpleperf = 128 // the first of simpleperf's own features
	featureMeta       = featureSimpleperf + 1
	featureInitMap    = featureSimpleperf + 6
)

// readFeatures reads the list of features after the data, and the section of each feature.
func (r *reader) readFeatures(b []byte, h *header) {
	at := h.data.offset + h.data.size
	index := cursorOf(nil, h.big)
	if at <= uint64(len(b)) {
		index.Rest = b[at:]
	}
	end := at + uint64(len(h.features))*featureSection
	for _, bit := range h.features {
		s := section{index.U64(), index.U64()}
		if index.Short {
			r.problem(diagnostic.Error, int64(at), "cut-features", "the list of features is cut: host, event names and build-ids may be missing")
			return
		}
		part, whole := s.within(len(b))
		if !whole {
			r.problem(diagnostic.Error, int64(s.offset), "cut-features", "feature %d lies outside the file", bit)
		}
		r.feature(bit, b[part.offset:part.offset+part.size])
		end = max(end, part.offset+part.size)
	}
	r.judgeRest(b, end)
}

// featureSection is the size of an entry of the list of features.
const featureSection = 16

// judgeRest reports another recording after the end of this one, as when files were concatenated.
func (r *reader) judgeRest(b []byte, end uint64) {
	if end < uint64(len(b)) && beginsRecording(b[end:]) {
		r.problem(diagnostic.Error, int64(end), "another-recording", "another recording of %d bytes follows this one in the same file, and is not read: put it into a file of its own", uint64(len(b))-end)
	}
}

// feature reads the section of a feature.
func (r *reader) feature(bit int, b []byte) {
	c := cursorOf(b, r.big)
	rec := r.rec
	r.noteFeature(bit, c)
	switch bit {
	case featureTracing:
		r.tracingData(b)
	case featureHostname:
		rec.Host = c.string()
	case featureOSRelease:
		rec.OS = strings.TrimSpace("Linux " + c.string())
	case featureVersion:
		rec.Collector = "perf " + c.string()
	case featureArch:
		if rec.Arch = c.string(); isa.Narrow(rec.Arch) {
			rec.WordBits = 32
		}
	case featureCPUs:
		present, online := c.U32(), c.U32() // the order differs by version
		rec.CPUs, r.meta.online = int(max(present, online)), int(min(present, online))
	case featureCmdline:
		r.commandLine(&c)
	case featureEventDesc:
		r.eventNames(&c)
	case featureBuildID:
		r.buildIDs(&c)
	case featurePMUs:
		r.unitNames(&c)
	case featureCache:
		r.caches(&c)
	case featurePMUCaps:
		r.unitCapabilities(&c)
	case featureTimes:
		if first, last := c.U64(), c.U64(); !c.Short && first <= last && last < offCPUSums {
			r.meta.sampleTimes = timeLimits{first: first, last: last}
		}
	case featureClockData:
		r.clockData(&c)
	case featureMeta:
		r.simpleperfFacts(b)
	case featureInitMap:
		r.simpleperfMappings(b)
	}
	if c.torn {
		r.problem(diagnostic.Warning, diagnostic.NoOffset, "bad-feature", "a text of feature %d continues after its end: it is damaged, and names or other facts of the recording may be, too", bit)
	}
	if c.Short && bit != featureCache {
		r.problem(diagnostic.Warning, diagnostic.NoOffset, "bad-feature", "feature %d ends before its last field: names or other facts of the recording may be missing", bit)
	}
}

func (r *reader) commandLine(c *cursor) {
	r.meta.argv = nil
	for n := c.U32(); n > 0 && !c.Short; n-- {
		r.meta.argv = append(r.meta.argv, c.string())
	}
	r.meta.cmdline = strings.Join(r.meta.argv, " ")
}

// unitNames reads PMU_MAPPINGS: the names of the units (PMUs) by the type of their events.
func (p *recordParser) unitNames(c *cursor) {
	for n := c.U32(); n > 0 && !c.Short; n-- {
		typ := c.U32()
		p.units[typ] = c.string()
	}
}

// unitCapabilities reads CPU_PMU_CAPS, pairs of names and values, for the number of branches that
// the processor records.
func (p *recordParser) unitCapabilities(c *cursor) {
	for n := c.U32(); n > 0 && !c.Short; n-- {
		name, value := c.string(), c.string()
		if count, err := strconv.Atoi(value); err == nil && name == "branches" {
			p.branchCapacity = count
		}
	}
}

// clockData reads CLOCK_DATA: the same instant on the wall clock and on the recording's clock.
func (r *reader) clockData(c *cursor) {
	c.U32() // version
	c.U32() // clock
	wall, clock := c.U64(), c.U64()
	switch {
	case c.Short:
	case wall > math.MaxInt64 || clock > math.MaxInt64:
		r.problem(diagnostic.Error, diagnostic.NoOffset, "bad-time", "the wall-clock time of the recording is %d ns at %d ns on its own clock, which is impossible: the wall-clock time is left out", wall, clock)
	default:
		r.meta.wall, r.meta.clock = int64(wall), int64(clock)
	}
}

// eventNames reads EVENT_DESC: the name, ids and a copy of the attributes of each event. It assigns
// names by id, or by position if there are no ids.
func (r *reader) eventNames(c *cursor) {
	n, size := c.U32(), c.U32()
	same := int(n) == len(r.events)
	for i := 0; i < int(n) && !c.Short; i++ {
		described := c.Bytes(uint64(size))
		ids := c.U32()
		name := c.string()
		if same && size > 0 && !c.Short {
			if a, _, err := readAttr(described, c.Big); err != nil || a != r.events[i].attr {
				r.problem(diagnostic.Warning, diagnostic.NoOffset, "bad-attributes", "the event %q has different attributes in EVENT_DESC and in its own entry: its samples may be misread", name)
			}
		}
		at, found := int32(i), ids == 0
		other := same && int(ids) != r.events[i].ids
		for ; ids > 0 && !c.Short; ids-- {
			if e, ok := r.byID[c.U64()]; ok && !c.Short {
				at, found = e, true
				other = other || same && e != int32(i)
			} else {
				other = true
			}
		}
		if other && !c.Short {
			r.problem(diagnostic.Warning, diagnostic.NoOffset, "bad-attributes", "the event %q has different ids in EVENT_DESC and in its own entry: its samples may be counted as another event's", name)
		}
		if (found || same) && int(at) < len(r.events) && name != "" && !c.Short {
			r.events[at].name = name
		}
	}
}

// buildIDs reads the build-ids of the load objects with samples.
func (r *reader) buildIDs(c *cursor) {
	for len(c.Rest) >= recordHeader {
		whole := c.Rest
		_, misc, size := c.U32(), c.U16(), c.U16()
		if int(size) < recordHeader || int(size) > len(whole) {
			c.Rest, c.Short = nil, true
			return
		}
		r.buildID(misc, whole[recordHeader:size])
		c.Rest = whole[size:]
	}
}

// buildID reads the body of a BUILD_ID record.
func (r *reader) buildID(misc uint16, body []byte) {
	c := cursorOf(body, r.big)
	c.U32() // pid
	id := c.Bytes(24)
	name := fileName(c.Rest)
	if c.Short || name == "" || spaceOf(misc) != 0 { // a path inside a virtual machine
		return
	}
	n := uint8(20)
	if misc&(1<<15) != 0 {
		n = id[20]
	}
	text := buildIDText(id[:20], n)
	if other, known := r.meta.imageIDs[name]; known && other != text {
		r.meta.ambiguousIDs[name] = true
	}
	r.meta.imageIDs[name] = text
}

// buildIDText returns a build-id of n bytes, without padding, in hex.
func buildIDText(id []byte, n uint8) string { return hex.EncodeToString(id[:min(int(n), len(id))]) }

// started converts a recorded time to wall-clock time.
func (r *reader) started(t int64) time.Time {
	if r.meta.wall == 0 {
		return time.Time{}
	}
	if since := t - r.meta.clock; since > math.MaxInt64-r.meta.wall {
		r.problem(diagnostic.Error, diagnostic.NoOffset, "bad-time", "the recording has the wall-clock time %d ns and began %d ns later, which is impossible: the wall-clock time is left out", r.meta.wall, since)
		return time.Time{}
	}
	return time.Unix(0, r.meta.wall+(t-r.meta.clock)).UTC()
}

// instructionCache is the type of caches that hold no data.
const instructionCache = "Instruction"

// Bounds of a cache's line size, in bytes.
const (
	minLine = 8
	maxLine = 4096
)

// cacheVersion is the known version of the list of caches.
const cacheVersion = 1

// caches reads the list of caches (perf-data 2). It keeps the line size of the first-level data
// cache; if processors differ, the largest.
func (r *reader) caches(c *cursor) {
	version, n := c.U32(), c.U32()
	if c.Short || version != cacheVersion {
		r.problem(diagnostic.Info, diagnostic.NoOffset, "bad-caches", "the list of caches has the unknown version %d: the line size is not read", version)
		return
	}
	nearest := uint32(0)
	for ; n > 0; n-- {
		level, line := c.U32(), c.U32()
		c.U32() // sets
		c.U32() // ways
		kind := c.string()
		_, _ = c.string(), c.string() // size, processors
		if c.Short {
			r.problem(diagnostic.Info, diagnostic.NoOffset, "bad-caches", "the list of caches is cut: the line size may be wrong")
			return
		}
		switch {
		case kind == instructionCache:
		case line < minLine || line > maxLine || line&(line-1) != 0:
			r.problem(diagnostic.Info, diagnostic.NoOffset, "bad-caches", "a cache with lines of %d bytes is ignored", line)
		case nearest == 0 || level < nearest:
			nearest, r.rec.CacheLine = level, int64(line)
		case level == nearest:
			r.rec.CacheLine = max(r.rec.CacheLine, int64(line))
		}
	}
}

// clockMonotonic is the number of CLOCK_MONOTONIC, the clock that JIT compilers read.
const clockMonotonic = 1

// readCycleClock reads a TIME_CONV record; it returns nil if the record makes no sense.
func readCycleClock(body []byte, big bool) *decode.CycleClock {
	c := cursorOf(body, big)
	k := &decode.CycleClock{Shift: c.U64(), Mult: c.U64(), Zero: c.U64()}
	if c.Short || k.Shift > 63 || k.Mult == 0 {
		return nil
	}
	k.Cycles, k.Mask = c.U64(), c.U64()
	if caps := c.Bytes(2); caps != nil {
		k.Short = caps[1] != 0
	}
	return k
}

// compilerClock returns the clock of JIT compilers. Cycles can be converted only if the recording
// uses the kernel's own clock.
func (t *timeline) compilerClock() *decode.CompilerClock {
	if len(t.r.events) == 0 {
		return nil
	}
	a, c := &t.r.events[0].attr, &decode.CompilerClock{Start: t.start}
	if a.flags&flagClockID != 0 {
		c.Monotonic = a.clockID == clockMonotonic
	} else {
		c.Cycles = t.r.meta.cycles
	}
	return c
}
