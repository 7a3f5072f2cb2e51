package html

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// thin is the narrow no-break space between a number and its unit.
const thin = "\u202f"

// minus is the sign of negative numbers.
const minus = "\u2212"

// step is a unit with its size in the base unit.
type step struct {
	size float64
	name string
}

// steps are the units in which values of a base unit are shown, the largest first.
var steps = map[string][]step{
	"ns":    {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}},
	"bytes": {{1 << 40, "TiB"}, {1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}, {1, "B"}},
	"count": {{1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}},
}

// Amount formats a value in a base unit (ns, bytes or count) with three significant digits: 1.61 s, 12.3 MiB, 17.
// Counts up to 10,000 are exact.
func Amount(v float64, unit string) string {
	switch {
	case v < 0:
		return minus + Amount(-v, unit)
	case v == 0:
		return "0"
	}
	list := steps[unit]
	if list == nil {
		return digits(v) + thin + unit
	}
	for i, s := range list {
		if rounded(v/s.size) >= 1 && (s.name != "k" || v >= 1e4) || i == len(list)-1 {
			return strings.TrimSuffix(digits(v/s.size)+thin+s.name, thin)
		}
	}
	return ""
}

// rounded rounds a number to three significant digits, but keeps all digits before the decimal point.
func rounded(v float64) float64 {
	if v >= 1000 {
		return math.Round(v)
	}
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	return r
}

func digits(v float64) string {
	switch {
	case v == math.Trunc(v) || v >= 999.5:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v < 0.01:
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return strconv.FormatFloat(v, 'f', 2-int(math.Floor(math.Log10(rounded(v)))), 64)
}

// Exact formats a value in its base unit with all digits.
func Exact(v int64, unit string) string {
	if unit == "count" {
		return strconv.FormatInt(v, 10)
	}
	return fmt.Sprintf("%d%s%s", v, thin, unit)
}

// Share formats a part of a whole as a percentage with one digit.
func Share(part, whole float64) string {
	switch p := 100 * part / whole; {
	case whole == 0 || part == 0:
		return "0"
	case p < 0.05:
		return "<" + thin + "0.1" + thin + "%"
	default:
		return strconv.FormatFloat(p, 'f', 1, 64) + thin + "%"
	}
}
