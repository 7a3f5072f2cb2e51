package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/pprof/profile"

	"stackmill/queries"
	"stackmill/queries/export"
)

// compareExports exports a store in several formats. It reports those in which the sum of the values
// is not the number of samples.
func compareExports(ctx context.Context, db *queries.DB, samples int, found func(text string)) error {
	for _, as := range []string{"folded", "pprof", "speedscope"} {
		for _, mode := range modes {
			for _, inlined := range []bool{false, true} {
				if as == "pprof" && inlined {
					continue
				}
				var b bytes.Buffer
				if err := export.Write(ctx, db, export.Request{As: as, Metric: metric, Mode: mode, Inline: inlined}, &b); err != nil {
					return fmt.Errorf("%s: %w", as, err)
				}
				sum, err := sums[as](b.Bytes())
				if err != nil {
					return fmt.Errorf("%s: %w", as, err)
				}
				if sum != int64(samples) {
					found(fmt.Sprintf("export %s, %s mode, inline %t: sum %d, want %d", as, mode, inlined, sum, samples))
				}
			}
		}
	}
	return nil
}

var sums = map[string]func([]byte) (int64, error){"folded": sumFolded, "pprof": sumPprof, "speedscope": sumSpeedscope}

func sumFolded(text []byte) (sum int64, err error) {
	for line := range strings.Lines(string(text)) {
		n, err := strconv.ParseInt(strings.TrimSpace(line[strings.LastIndexByte(line, ' ')+1:]), 10, 64)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

func sumPprof(text []byte) (sum int64, err error) {
	p, err := profile.ParseData(text)
	if err != nil {
		return 0, err
	}
	for _, s := range p.Sample {
		sum += s.Value[0]
	}
	return sum, nil
}

func sumSpeedscope(text []byte) (sum int64, err error) {
	var p struct {
		Profiles []struct{ Weights []float64 }
	}
	err = json.Unmarshal(text, &p)
	for _, profile := range p.Profiles {
		for _, w := range profile.Weights {
			sum += int64(w)
		}
	}
	return sum, err
}
