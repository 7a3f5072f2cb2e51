package gprofng

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// parseUnsigned reads a number as the collector writes it: decimal or `0x...`,
// perhaps with a `+` (gprofng-experiment 2.1).
func parseUnsigned(s string) (uint64, error) {
	digits := strings.TrimPrefix(strings.TrimSpace(s), "+")
	base := 10
	if hex, ok := strings.CutPrefix(strings.ToLower(digits), "0x"); ok {
		digits, base = hex, 16
	}
	n, err := strconv.ParseUint(digits, base, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a number", s)
	}
	return n, nil
}

// parseInt is parseUnsigned for numbers that may be negative.
func parseInt(s string) (int64, error) {
	digits, negative := strings.CutPrefix(strings.TrimSpace(s), "-")
	n, err := parseUnsigned(digits)
	if err != nil || n > math.MaxInt64 {
		return 0, fmt.Errorf("%q is not a number", s)
	}
	if negative {
		return -int64(n), nil
	}
	return int64(n), nil
}

const (
	nsPerSecond = 1_000_000_000
	maxSeconds  = math.MaxInt64/nsPerSecond - 1
)

// parseTime reads a time stamp `S.FFFFFFFFF` as nanoseconds
// (gprofng-experiment 2.2). The digits after the dot are a decimal fraction.
func parseTime(s string) (int64, error) {
	whole, fraction, _ := strings.Cut(strings.TrimSpace(s), ".")
	seconds, err := parseInt(whole)
	if err != nil || seconds < -maxSeconds || seconds > maxSeconds {
		return 0, fmt.Errorf("%q is not a time", s)
	}
	fraction = (fraction + "000000000")[:9]
	ns, err := strconv.ParseUint(fraction, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("%q is not a time", s)
	}
	if strings.HasPrefix(whole, "-") {
		return seconds*nsPerSecond - int64(ns), nil
	}
	return seconds*nsPerSecond + int64(ns), nil
}
