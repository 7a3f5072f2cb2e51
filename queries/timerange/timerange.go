// Package timerange parses points in time, and the phases of experiments, which labels define.
package timerange

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Point is a point in time: SQL compares Column with Value. At is the same value as a number, to
// compare points with the same Column.
type Point struct {
	Column, Value string
	At            int64 // ns, or µs for wall
}

// Parse parses a point in time.
func Parse(text string) (Point, error) {
	if d, err := time.ParseDuration(text); err == nil {
		return fromStart(d.Nanoseconds()), nil
	}
	if s, err := strconv.ParseFloat(text, 64); err == nil && s > -1e9 && s < 1e9 {
		return fromStart(int64(math.Round(s * 1e9))), nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02"} {
		if t, err := time.Parse(layout, strings.Replace(text, " ", "T", 1)); err == nil {
			return Point{"wall", "TIMESTAMP '" + t.UTC().Format("2006-01-02 15:04:05.999999") + "'", t.UnixMicro()}, nil
		}
	}
	return Point{}, fmt.Errorf("%q is not a time (write 10s, 1m30s or 2026-11-21T02:00)", text)
}

func fromStart(ns int64) Point { return Point{"time_ns", strconv.FormatInt(ns, 10), ns} }

// PhaseLabel is the prefix of labels that define phases of experiments.
const PhaseLabel = "phase."

// Phase converts the value of a label that defines a phase to the form that the view marks reads:
// FROM..UNTIL, or several of these separated by blanks. FROM or UNTIL may be left out.
func Phase(value string) (string, error) {
	pieces := strings.Fields(value)
	for i, p := range pieces {
		from, until, ok := strings.Cut(p, "..")
		if !ok || from+until == "" {
			return "", fmt.Errorf("%q is not a time of a phase (0s..10s; either end may be left out)", p)
		}
		for _, end := range []*string{&from, &until} {
			if *end == "" {
				continue
			}
			m, err := Parse(*end)
			if err != nil {
				return "", err
			}
			if m.Column == "time_ns" {
				if *end = decimal(m.Value); strings.HasPrefix(m.Value, "-") {
					return "", fmt.Errorf("%q is before the start", p)
				}
			} else {
				*end = strings.Replace(strings.TrimSuffix(strings.TrimPrefix(m.Value, "TIMESTAMP '"), "'"), " ", "T", 1)
			}
		}
		pieces[i] = from + ".." + until
	}
	return strings.Join(pieces, " "), nil
}

// decimal converts nanoseconds to a text in seconds, such as 1.5s.
func decimal(ns string) string {
	ns = strings.Repeat("0", max(10-len(ns), 0)) + ns
	return strings.TrimSuffix(strings.TrimRight(ns[:len(ns)-9]+"."+ns[len(ns)-9:], "0"), ".") + "s"
}
