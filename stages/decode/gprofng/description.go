package gprofng

import (
	"fmt"
	"math"
	"slices"
	"time"

	"stackmill/schema"
	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
	"stackmill/stages/decode/bounds"
)

// kindOfProfile maps the name of a profile element in the log to its kind of events.
var kindOfProfile = map[string]schema.Kind{
	"profile":   schema.Clock,
	"synctrace": schema.Sync,
	"iotrace":   schema.IO,
	"hwcounter": schema.HWC,
	"heaptrace": schema.Heap,
	"omptrace":  schema.OMP,
	"datarace":  schema.Race,
	"deadlock":  schema.Deadlock,
}

// description reads the elements that describe data files (gprofng-experiment 2.5).
func (r *logReader) description(t *tag) {
	switch t.name {
	case "profile":
		r.kind = t.get("name")
		r.profile(t)
	case "profdata":
		if t.get("fname") == eventFiles[schema.HWC] {
			r.addKind(decode.KindInfo{Kind: schema.HWC})
		}
	case "profpckt":
		kind, err := parseUnsigned(t.get("kind"))
		if err != nil || kind > math.MaxUint16 {
			r.e.report(diagnostic.Error, r.file, t.offset, "bad-number", "packet type %q is not a number up to 65535", t.get("kind"))
			r.layout = nil
			return
		}
		if kind >= maxType {
			r.e.report(diagnostic.Warning, r.file, t.offset, "undescribed-packets", "packets of type %d are unknown; they are ignored", kind)
			r.layout = nil
			return
		}
		if !isRead(uint16(kind)) {
			r.e.opener.unused.add(unusedRecord, r.file, fmt.Sprintf("the description of packets of type %d", kind), 1)
		}
		r.layout = newLayout(uint16(kind))
		r.layouts[uint16(kind)] = r.layout
	case "field":
		if r.layout == nil {
			return
		}
		if err := r.layout.addField(t.get("name"), t.get("type"), t.get("offset")); err != nil {
			r.e.report(diagnostic.Error, r.file, t.offset, "bad-layout", "packet type %d: %v", r.layout.typ, err)
		}
	}
}

func (r *logReader) profile(t *tag) {
	kind, ok := kindOfProfile[r.kind]
	if !ok {
		r.e.report(diagnostic.Warning, r.file, t.offset, "unknown-profile", "the kind of data %q is unknown; if this is the damaged name of a known kind, that kind's description is missing", r.kind)
		return
	}
	info := decode.KindInfo{Kind: kind}
	switch kind {
	case schema.Clock:
		us := r.int(t, "ptimer")
		if us < 0 {
			r.outOfBounds(t, "ptimer", " us", us, int64(time.Second/time.Microsecond))
		}
		info.TickNS = bounds.Mul(us, 1000)
		r.clockAt = t.offset
		info.States = int(r.int(t, "numstates"))
	case schema.HWC:
		r.counter(t)
	}
	r.addKind(info)
}

func (r *logReader) addKind(info decode.KindInfo) {
	if _, known := r.kindInfo(info.Kind); !known {
		r.kinds = append(r.kinds, info)
	}
}

// kindInfo describes a kind of data; ok is false if the process was recorded without it.
func (l *recordedLog) kindInfo(kind schema.Kind) (info decode.KindInfo, ok bool) {
	i := slices.IndexFunc(l.kinds, func(k decode.KindInfo) bool { return k.Kind == kind })
	if i < 0 {
		return info, false
	}
	return l.kinds[i], true
}

// cycleCounters are the counters of CPU cycles, which can be shown as time.
var cycleCounters = map[string]string{
	"cycles":                  "CPU Cycles",
	"cycles0":                 "CPU Cycles",
	"cycles1":                 "CPU Cycles",
	"user_cycles":             "User CPU Cycles",
	"system_cycles":           "System CPU Cycles",
	"cpu_clk_unhalted.thread": "CPU Cycles",
	"unhalted-core-cycles":    "CPU Cycles",
}

// maxCounters is more counters than any processor has.
const maxCounters = 1 << 10

func (r *logReader) counter(t *tag) {
	name := t.get("hwcname")
	if name == "" {
		return
	}
	if len(r.counters) == maxCounters {
		r.tooMany("counters", "counters", maxCounters)
		return
	}
	c := decode.Counter{
		Tag: int(r.int(t, "tag")), Name: name, Title: name,
		Interval: r.int(t, "interval"),
	}
	if title, ok := cycleCounters[name]; ok {
		c.Title, c.TimeUnit = title, true
	} else if name == "insts" {
		c.Title = "Instructions Executed"
	}
	c.Trigger = triggerOf(r.int(t, "memop"))
	r.counters = append(r.counters, c)
}

// triggerOf translates a counter's `memop` (gprofng-experiment 9.5).
func triggerOf(memop int64) decode.Trigger {
	switch memop {
	case 0, 0x4, 0x100: // no memory accesses; counted instructions; events outside of the program
		return decode.NoTrigger
	case 0x203:
		return decode.TriggerExact
	case 0x403:
		return decode.TriggerBehind
	}
	return decode.TriggerSkid
}
