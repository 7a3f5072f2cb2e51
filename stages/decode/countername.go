package decode

import "fmt"

// DistinctNames returns the names of counters so that all are different, since a name is a
// metric's: a second one of a name gets the next number that makes it one of its own.
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
