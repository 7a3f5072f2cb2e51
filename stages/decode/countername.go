package decode

import "fmt"

// DistinctNames makes the names of counters distinct, since they become metrics: a repeated name
// gets the next free number.
func DistinctNames(names []string) []string {
	taken := map[string]bool{}
	for _, name := range names {
		taken[name] = true
	}
	given := map[string]bool{}
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = name
		for n := 2; given[name] && taken[list[i]]; n++ {
			list[i] = fmt.Sprintf("%s_%d", name, n)
		}
		given[name], taken[list[i]] = true, true
	}
	return list
}
