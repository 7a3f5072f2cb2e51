package digest

import (
	"math"
	"slices"
	"strings"

	"stackmill/queries/rank"
)

// place identifies a night on a host.
type place struct {
	night int
	host  string
}

// Limits of the search for changes that the series of a host have in common.
const (
	// leastTogether is the smallest number of series of a host on which a common change is judged.
	leastTogether = 8
	// sameSide is the share of these series that must be on one side of their usual values.
	sameSide = 0.75
)

// commonFactors returns, for each night on each host on which nearly all series differ from their
// usual values in the same direction, the factor by which they differ. It also returns the changes
// of these factors.
func commonFactors(all []*Series, test *rank.Test, o Options) (map[place]float64, []Common) {
	logs := map[place][]float64{}
	names, order := map[int]string{}, map[string][]place{}
	series := map[string]int{}
	for _, s := range all {
		usual := rank.Median(slices.Sorted(slices.Values(s.Items[0].Values)))
		hosts := map[string]bool{}
		for g, group := range s.Groups {
			night := s.Nights[group.Night]
			if v := s.Items[0].Values[g]; v > 0 && usual > 0 {
				at := place{night.At, group.Host}
				if logs[at] == nil {
					order[group.Host] = append(order[group.Host], at)
				}
				logs[at] = append(logs[at], math.Log(v/usual))
				names[night.At] = night.Name
				hosts[group.Host] = true
			}
		}
		for h := range hosts {
			series[h]++
		}
	}
	factors := map[place]float64{}
	var common []Common
	for _, host := range sortedKeys(order) {
		slices.SortFunc(order[host], func(a, b place) int { return a.night - b.night })
		var levels []float64
		var at []place
		for _, p := range order[host] {
			if len(logs[p]) < leastTogether {
				continue
			}
			slices.Sort(logs[p])
			level := rank.Median(logs[p])
			above := len(logs[p]) - search(logs[p], 0)
			if n := float64(max(above, len(logs[p])-above)); n >= sameSide*float64(len(logs[p])) {
				factors[p] = math.Exp(level)
			}
			levels, at = append(levels, math.Exp(level)), append(at, p)
		}
		for _, c := range test.Changes(levels) {
			if at[c.At].night >= o.Since {
				common = append(common, Common{Host: host, Series: series[host], From: Night{Name: names[at[c.At].night], At: at[c.At].night}, State: c.State, Before: c.Before, After: c.After})
			}
		}
	}
	return factors, common
}

// search returns the number of sorted values that are below a limit.
func search(sorted []float64, limit float64) int {
	at, _ := slices.BinarySearch(sorted, limit)
	return at
}

func sortedKeys[V any](m map[string]V) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, strings.Compare)
	return keys
}
