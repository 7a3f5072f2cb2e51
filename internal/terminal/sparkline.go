package terminal

import (
	"math"
	"os"
	"slices"
	"strings"
)

// The heights of a sparkline's characters.
var (
	blocks = []rune("▁▂▃▄▅▆▇█")
	ascii  = []rune("_.,-~+*#")
)

// UTF8 reports whether the locale of this process uses UTF-8, so that output may contain more than
// ASCII.
func UTF8() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := os.Getenv(name); v != "" {
			v = strings.ToLower(v)
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}

// Sparkline draws values between low and high as a line of at most width characters. If there are more
// values, each character shows the median of several. at returns the column of a value.
func Sparkline(values []float64, low, high float64, width int, utf8 bool) (line string, at func(i int) int) {
	width = min(width, len(values))
	at = func(i int) int { return i * width / len(values) }
	heights := ascii
	if utf8 {
		heights = blocks
	}
	var b strings.Builder
	for from := 0; from < len(values); {
		to := from + 1
		for to < len(values) && at(to) == at(from) {
			to++
		}
		some := slices.Sorted(slices.Values(values[from:to]))
		height := 0.0
		if high > low {
			height = (some[len(some)/2] - low) / (high - low) * float64(len(heights))
		}
		b.WriteRune(heights[min(max(int(math.Floor(height)), 0), len(heights)-1)])
		from = to
	}
	return b.String(), at
}
