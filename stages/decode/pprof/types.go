package pprof

import (
	"fmt"
	"math"
	"strings"

	"stackmill/stages/decode"
)

// units are the units that pprof knows, in those of metrics.
var units = map[string]struct {
	unit   string
	factor int64
}{
	"nanoseconds": {"ns", 1}, "ns": {"ns", 1}, "microseconds": {"ns", 1e3}, "us": {"ns", 1e3}, "milliseconds": {"ns", 1e6}, "ms": {"ns", 1e6}, "seconds": {"ns", 1e9}, "s": {"ns", 1e9},
	"bytes": {"bytes", 1}, "byte": {"bytes", 1}, "kilobytes": {"bytes", 1 << 10}, "kb": {"bytes", 1 << 10}, "megabytes": {"bytes", 1 << 20}, "mb": {"bytes", 1 << 20},
}

// counters are the types of samples. Those of one name are told apart by a number. The
// negative values of a type, which the difference of two profiles has, are a counter of
// their own: a metric is a sum of parts, and none of them is larger than the whole.
func (x *index) counters() (list []decode.Counter) {
	seen := map[string]int{}
	for i, t := range x.types {
		name := x.text(t.name)
		if name == "" {
			name = "value"
		}
		seen[name]++
		if n := seen[name]; n > 1 {
			name = fmt.Sprintf("%s_%d", name, n)
		}
		unit := units[x.text(t.unit)].unit
		list = append(list, decode.Counter{Tag: i, Name: name, Title: name, Unit: unit, TimeUnit: unit == "ns"})
	}
	list[x.shown()].Preferred = true
	for i := range x.types {
		if x.negative[i] {
			c := list[i]
			c.Tag, c.Name, c.Preferred = len(list), c.Name+".negative", false
			c.Title = c.Name
			list = append(list, c)
		}
	}
	return list
}

// shown is the type that pprof shows: the one that the profile names, or else the last.
func (x *index) shown() int {
	for i, t := range x.types {
		if x.preferred != 0 && x.text(t.name) == x.text(x.preferred) {
			return i
		}
	}
	return len(x.types) - 1
}

// comment is what the profile says of itself, line by line.
func (x *index) comment() string {
	var lines []string
	for _, n := range append(x.comments, x.doc) {
		if s := x.text(n); s != "" {
			lines = append(lines, s)
		}
	}
	return strings.Join(lines, "\n")
}

// event is one value of a sample: of a type, or of the negative values of one.
type event struct {
	typ   int32
	value int64
}

// value returns what a value of a type counts, in the metric's unit. It is 0 and false if
// 64 bits cannot hold that.
func (x *index) value(typ int, v int64) (event, bool) {
	factor := max(units[x.text(x.types[typ].unit)].factor, 1)
	product := v * factor
	switch {
	case product/factor != v || product == math.MinInt64:
		return event{typ: int32(typ)}, false
	case product >= 0:
		return event{int32(typ), product}, true
	}
	return event{x.negativeOf(typ), -product}, true
}

// negativeOf is the tag of the counter of a type's negative values. Before all types were
// seen it is that of no type.
func (x *index) negativeOf(typ int) int32 {
	n := len(x.types)
	for i, has := range x.negative {
		if i == typ {
			break
		}
		if has {
			n++
		}
	}
	return int32(n)
}
