package queries

import (
	"slices"
	"strings"

	"stackmill/internal/terminal"
)

// matching returns the indexes of the experiments with this name or id. If there are none, it
// returns those whose name ends in it.
func matching(experiments []Experiment, name string) []int {
	var exact, ending []int
	for i, e := range experiments {
		n := e.Name
		if n == name || e.ExperimentID == name {
			exact = append(exact, i)
		}
		if b := base(n); b == name || strings.TrimSuffix(b, ".er") == name || strings.HasSuffix(n, "/"+name) {
			ending = append(ending, i)
		}
	}
	if exact != nil {
		return exact
	}
	return ending
}

// base returns the base name of the recording from an experiment's name.
func base(name string) string {
	name, _, _ = strings.Cut(name[strings.LastIndex(name, "/")+1:], "@")
	return name
}

// closest returns up to five known names that contain a name or differ from it by few letters.
func closest(name string, known []string) []string {
	type candidate struct {
		name     string
		distance int
	}
	var found []candidate
	for _, k := range known {
		d := distance(strings.ToLower(name), strings.ToLower(k))
		if strings.Contains(strings.ToLower(k), strings.ToLower(name)) {
			d = 0
		}
		if d <= (len(name)+2)/3 {
			found = append(found, candidate{k, d})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return a.distance - b.distance })
	var names []string
	for _, c := range found[:min(5, len(found))] {
		names = append(names, c.name)
	}
	return names
}

// distance returns how many bytes to insert, remove or replace to turn a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}

// Suggest returns a question that names similar known names, to append to an error; "" if there are
// none.
func Suggest(name string, known []string) string { return near(Similar(name, known)) }

// Similar returns up to five known names that contain a name or differ from it by few letters.
func Similar(name string, known []string) []string {
	if name == "" { // every name contains it
		return nil
	}
	return slices.Compact(closest(name, known))
}

// near returns the question whether one of the names was meant.
func near(names []string) string {
	switch len(names) {
	case 0:
		return ""
	case 1:
		return ", did you mean " + names[0] + "?"
	}
	return ", did you mean one of " + strings.Join(names, ", ") + "?"
}

// Count formats a number of things: 1 file, 2 files.
func Count(n int, thing string) string { return terminal.Plural(n, thing) }

// ObjectPath is SQL for the end of a load object's path that distinguishes it in its experiment. o
// is a row of load_objects.
const ObjectPath = "COALESCE(NULLIF(o.short_path, ''), o.name)"
