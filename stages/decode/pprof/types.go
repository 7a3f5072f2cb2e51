package pprof

import (
	"cmp"
	"math"
	"strings"
	"unicode/utf8"

	"stackmill/stages/decode"
)

// units maps pprof's units, in lower case and in the singular, to units of metrics.
var units = map[string]struct {
	unit   string
	factor int64
}{
	"nanosecond": {"ns", 1}, "ns": {"ns", 1}, "microsecond": {"ns", 1e3}, "us": {"ns", 1e3}, "μs": {"ns", 1e3}, "µs": {"ns", 1e3}, "millisecond": {"ns", 1e6}, "ms": {"ns", 1e6},
	"second": {"ns", 1e9}, "sec": {"ns", 1e9}, "s": {"ns", 1e9}, "hour": {"ns", 3600e9}, "hr": {"ns", 3600e9},
	"byte": {"bytes", 1}, "b": {"bytes", 1}, "kilobyte": {"bytes", 1 << 10}, "kbyte": {"bytes", 1 << 10}, "kb": {"bytes", 1 << 10}, "megabyte": {"bytes", 1 << 20}, "mbyte": {"bytes", 1 << 20}, "mb": {"bytes", 1 << 20},
	"gigabyte": {"bytes", 1 << 30}, "gbyte": {"bytes", 1 << 30}, "gb": {"bytes", 1 << 30}, "terabyte": {"bytes", 1 << 40}, "tbyte": {"bytes", 1 << 40}, "tb": {"bytes", 1 << 40},
	"petabyte": {"bytes", 1 << 50}, "pbyte": {"bytes", 1 << 50}, "pb": {"bytes", 1 << 50},
}

// setUnit sets metricUnit and factor from a pprof unit. An unknown unit becomes the metric's unit.
func (t *valueType) setUnit(name string) {
	key := strings.ToLower(name)
	if utf8.RuneCountInString(key) > len("ms") {
		key = strings.TrimSuffix(key, "s")
	}
	u, known := units[key]
	switch {
	case known:
		t.metricUnit, t.factor = u.unit, u.factor
	case key == "count":
		t.metricUnit, t.factor = "", 1
	default:
		t.metricUnit, t.factor = name, 1
	}
}

// counters returns the sample types as counters with distinct names.
func (x *profileIndex) counters() (list []decode.Counter) {
	names := make([]string, len(x.types))
	for i, t := range x.types {
		names[i] = cmp.Or(x.text(t.name), "value")
	}
	names = decode.DistinctNames(names)
	for i, t := range x.types {
		list = append(list, decode.Counter{Tag: i, Unit: t.metricUnit, TimeUnit: t.metricUnit == "ns"})
	}
	list[x.defaultType()].Preferred = true
	for i, name := range names {
		list[i].Name, list[i].Title = name, name
	}
	return list
}

// defaultType returns the index of the type that pprof shows by default: the type that the profile
// prefers, or else the last type.
func (x *profileIndex) defaultType() int {
	for i, t := range x.types {
		if x.preferred != 0 && x.text(t.name) == x.text(x.preferred) {
			return i
		}
	}
	return len(x.types) - 1
}

// comment returns the profile's comments and the URL of its documentation, line by line.
func (x *profileIndex) comment() string {
	var lines []string
	for _, n := range append(x.comments, x.doc) {
		if s := x.text(n); s != "" {
			lines = append(lines, s)
		}
	}
	return strings.Join(lines, "\n")
}

// event is one value of a sample.
type event struct {
	typ   int32
	value int64
}

// value converts a value to the metric's unit. It returns false if the result needs more than 64
// bits.
func (x *profileIndex) value(typ int, v int64) (event, bool) {
	factor := x.types[typ].factor
	product := v * factor
	if product/factor != v || product == math.MinInt64 {
		return event{typ: int32(typ)}, false
	}
	return event{int32(typ), product}, true
}
