package perfdata

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"stackmill/schema"
	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
	"stackmill/stages/decode/bounds"
)

// The sizes of the records with counts of perf stat, without their headers (perf-data 5.2).
const (
	statSize  = 40
	roundSize = 16
)

// maxCount is more than any counter counts in an interval. Sums of counts do not overflow.
const maxCount = 1 << 56

// statRecords holds what the first pass found of perf stat. STAT records have the totals of counters
// so far; a STAT_ROUND record ends an interval, or the whole recording.
type statRecords struct {
	refs    sampleRefs // STAT and STAT_ROUND records, in file order
	threads []statThread
	ended   bool // perf has written the end of its counts
}

// statThread is an entry of THREAD_MAP. STAT records refer to these by index.
type statThread struct {
	id   int64 // -1: all threads
	name string
}

// statReading is the content of a STAT record.
type statReading struct {
	counterReading
	event       int32
	cpu, thread int32
}

// statAt notes the offset of a STAT or STAT_ROUND record.
func (r *reader) statAt(at recordOffset, typ uint32, body []byte) {
	if typ == recordStat && len(body) != statSize || typ == recordStatRound && len(body) != roundSize {
		r.stats.oddRecords++
		return
	}
	r.stat.refs.add(sampleRef{at: at})
	const final = 1
	c := cursorOf(body, r.big)
	r.stat.ended = r.stat.ended || typ == recordStatRound && c.U64() == final
}

// threadMap reads a THREAD_MAP record.
func (r *reader) threadMap(body []byte) {
	const nameSize = 16
	c := cursorOf(body, r.big)
	if n := c.U64(); c.Short || n > uint64(len(body)) || uint64(len(c.Rest)) != n*(8+nameSize) {
		r.stats.oddRecords++
		return
	}
	r.stat.threads = nil
	for len(c.Rest) > 0 {
		r.stat.threads = append(r.stat.threads, statThread{int64(c.U64()), text(c.Bytes(nameSize))})
	}
}

// updateEvent reads an EVENT_UPDATE record: a name, or the unit in which perf shows an event.
func (r *reader) updateEvent(c *cursor) {
	kind, id := c.U64(), c.U64()
	n, known := r.byID[id]
	if !known {
		return
	}
	switch e := r.events[n]; kind {
	case updateUnit:
		e.unit = text(c.Rest)
	case updateScale:
		if scale := math.Float64frombits(c.U64()); !c.Short && scale > 0 && scale <= math.MaxFloat64 {
			e.scale = scale
		}
	case updateName:
		if name := text(c.Rest); name != "" {
			e.name = name
		}
	}
}

// findCounts checks the counts of perf stat, and makes them readable.
func (r *reader) findCounts(t *timeline) {
	if r.stat.refs.n == 0 {
		return
	}
	f := &countFolder{stackReader: stackReader{reader: r}}
	if r.spaceFailed(f.each(func(*decode.Count) error { return nil })); f.intervals > 0 {
		r.rec.Counts = func(pass func(*decode.Count) error) (err error) {
			f := &countFolder{stackReader: stackReader{reader: r}}
			if guard := r.in.files[0].Guard(func() { err = f.each(pass) }); guard != nil {
				return guard
			}
			return err
		}
	}
	f.judge()
	if len(t.recorded) == 0 { // the counts are the recording
		p := &process{}
		p.Number, p.Shared, p.Closed, p.DurationNS = 1, true, true, f.until
		if list := r.stat.threads; len(list) == 1 && list[0].id > 0 {
			p.PID = list[0].id
		}
		p.Events = func(schema.Kind, ...string) decode.EventReader { return emptyReader{} }
		p.Records = func(schema.Kind) int64 { return 0 }
		t.recorded = append(t.recorded, p)
	}
}

// countFolder computes what counters counted in each interval from their totals.
type countFolder struct {
	stackReader
	names     []string // by event
	before    map[uint64]statReading
	now       map[uint64]statReading // the readings since the last interval's end, by counter id
	intervals int
	until     int64 // end of the last interval

	unknown, falling int64 // counts of unknown events, and counts that fell
	reversed         int64 // intervals that end before they begin
}

// each passes all counts.
func (f *countFolder) each(pass func(*decode.Count) error) error {
	f.names = f.distinctNames()
	f.before, f.now = map[uint64]statReading{}, map[uint64]statReading{}
	for part := range f.stat.refs.all() {
		for _, ref := range part {
			_, body := f.body(ref.at)
			c := cursorOf(body, f.big)
			if len(body) == roundSize {
				c.U64() // the kind of end
				if err := f.endInterval(c.U64(), pass); err != nil {
					return err
				}
				continue
			}
			id := c.U64()
			event, known := f.byID[id]
			if !known {
				f.unknown++
				continue
			}
			f.now[id] = statReading{event: event, cpu: c.s32(), thread: c.s32(), counterReading: counterReading{c.U64(), c.U64(), c.U64()}}
		}
	}
	return f.stat.refs.err
}

// endInterval passes the counts of an interval, by event, CPU and thread. perf could not enable a
// counter without a reading.
func (f *countFolder) endInterval(end uint64, pass func(*decode.Count) error) error {
	from := f.until
	if end < uint64(from) || end > uint64(bounds.MaxDuration) {
		f.reversed++
	}
	f.until = max(from, int64(min(end, uint64(bounds.MaxDuration))))
	f.intervals++
	ids := make([][]uint64, len(f.events))
	for id, now := range f.now {
		ids[now.event] = append(ids[now.event], id)
	}
	for event, list := range ids {
		e := f.events[event]
		if e.isDummy() {
			continue
		}
		count := decode.Count{Interval: f.intervals, FromNS: from, UntilNS: f.until, Event: f.names[event], CPU: -1, ThreadID: -1, Unit: e.unit, Scale: "1"}
		if e.scale != 0 {
			count.Scale = strconv.FormatFloat(e.scale, 'g', -1, 64)
		}
		slices.SortFunc(list, func(a, b uint64) int {
			x, y := f.now[a], f.now[b]
			return cmp.Or(cmp.Compare(x.cpu, y.cpu), cmp.Compare(x.thread, y.thread), cmp.Compare(a, b))
		})
		for _, id := range list {
			own := count
			f.count(id, &own)
			if err := pass(&own); err != nil {
				return err
			}
		}
		if len(list) == 0 {
			if e.ids == 0 {
				count.EnabledNS, count.RunningNS = -1, -1
			}
			if err := pass(&count); err != nil {
				return err
			}
		}
	}
	for id, now := range f.now {
		f.before[id] = now
	}
	clear(f.now)
	return nil
}

// count fills in what a counter counted since its last reading.
func (f *countFolder) count(id uint64, c *decode.Count) {
	now, before := f.now[id], f.before[id]
	c.CPU = now.cpu
	if n := int(now.thread); n >= 0 && n < len(f.stat.threads) {
		c.ThreadID, c.ThreadName = f.stat.threads[n].id, f.stat.threads[n].name
	}
	value, enabled, running := now.value-before.value, now.enabled-before.enabled, now.running-before.running
	if now.value < before.value || now.enabled < before.enabled || now.running < before.running || max(value, enabled, running) > maxCount {
		f.falling++
		return
	}
	c.Counted, c.Value, c.EnabledNS, c.RunningNS = true, int64(value), int64(enabled), int64(running)
}

// judge reports counts that are not stored.
func (f *countFolder) judge() {
	f.reader.count(diagnostic.Error, f.unknown, "unknown-event", "counts of perf stat belong to events that the file does not describe")
	f.reader.count(diagnostic.Error, f.falling, "falling-count", "counts of perf stat are lower than those before, or too high: they are missing")
	f.reader.count(diagnostic.Error, f.reversed, "bad-interval", "intervals of perf stat end before they begin, or after more than a year: their times are wrong")
	rest := int64(0)
	for id, now := range f.now {
		if now.counterReading != f.before[id].counterReading {
			rest++
		}
	}
	if f.intervals == 0 {
		f.reader.count(diagnostic.Error, rest, "no-interval", "counts of perf stat are not stored, because the recording does not say when counting ended: perf was killed, or the file was cut")
		return
	}
	f.reader.count(diagnostic.Info, rest, "no-interval", "counters counted on after the last interval: perf stat does not say how long, so these counts are not stored")
}
