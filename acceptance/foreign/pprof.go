package main

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/google/pprof/profile"
)

// comparePprof exports a profile again and compares all samples with the original.
func (r *result) comparePprof(p *program, _ string) error {
	data, err := os.ReadFile(r.path)
	if err != nil {
		return err
	}
	want, err := profile.ParseData(data)
	if err != nil {
		r.peer = err.Error()
		return nil
	}
	for _, mode := range []string{"user", "machine"} {
		out, err := p.run("export", "--as", "pprof", "--mode", mode, "-o", "-")
		if err != nil {
			return err
		}
		got, err := profile.Parse(bytes.NewReader(out))
		if err != nil {
			return err
		}
		ours, theirs := samplesOf(got), samplesOf(want)
		for _, k := range slices.Sorted(maps.Keys(theirs)) {
			if ours[k] != theirs[k] {
				r.differ("%s mode: a sample is %d, not %d: %s", mode, ours[k], theirs[k], k)
			}
		}
		for _, k := range slices.Sorted(maps.Keys(ours)) {
			if _, known := theirs[k]; !known {
				r.differ("%s mode: a sample of %d is not in the profile: %s", mode, ours[k], k)
			}
		}
	}
	return nil
}

// scales are the units that the program converts to those of its metrics.
var scales = map[string]int64{"microseconds": 1e3, "milliseconds": 1e6, "seconds": 1e9, "kilobytes": 1 << 10, "megabytes": 1 << 20}

// made matches names that the program gives to code without functions.
var made = regexp.MustCompile(`^<(Unknown|static|function|no stack).*>`)

// samplesOf returns the values of a profile by type, stack and labels; those that are 0 are
// left out. Times are in ns and sizes in bytes.
func samplesOf(p *profile.Profile) map[string]int64 {
	sums := map[string]int64{}
	for _, s := range p.Sample {
		var b strings.Builder
		for _, l := range s.Location {
			for _, line := range l.Line {
				name, file := "", ""
				if line.Function != nil {
					name, file = cmp.Or(line.Function.Name, line.Function.SystemName), line.Function.Filename
				}
				if name != "" && !made.MatchString(name) {
					fmt.Fprintf(&b, "%s %s:%d;", name, file, line.Line)
				}
			}
		}
		fmt.Fprint(&b, s.Label, s.NumLabel, s.NumUnit)
		for i, v := range s.Value {
			t := p.SampleType[i]
			key := cmp.Or(t.Type, "value") + " " + b.String()
			if sums[key] += v * max(scales[t.Unit], 1); sums[key] == 0 {
				delete(sums, key)
			}
		}
	}
	return sums
}
