package queries

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"stackmill/schema"
)

// many is how many experiments a store has where reading the stacks of all takes seconds.
const many = 100

// namedExperiment is a condition on the name of one experiment.
var namedExperiment = regexp.MustCompile(`(?i)\bexperiment\s*=\s*'((?:[^']|'')*)'`)

// adviseID tells of a condition on an experiment's name where a view reads the stacks of
// all experiments before it knows the names: it passes one on the identifier to what it
// reads.
func (db *DB) adviseID(statement string) (advice []string) {
	condition := namedExperiment.FindStringSubmatch(statement)
	if condition == nil || db.Count < many || strings.Contains(strings.ToLower(statement), "experiment_id") {
		return nil
	}
	name := strings.ReplaceAll(condition[1], "''", "'")
	list := db.Experiments()
	at := slices.IndexFunc(list, func(e Experiment) bool { return e.Name == name })
	if at < 0 {
		return nil
	}
	read := words(strings.ToLower(statement))
	for _, view := range namedLast() {
		if slices.Contains(read, view) {
			advice = append(advice, fmt.Sprintf("%s reads the stacks of all %d experiments for a condition on a name (experiment_id = '%s' reads those of %s only)",
				view, db.Count, list[at].ExperimentID, name))
		}
	}
	return advice
}

// namedLast are the views of stacks that join the names of experiments last.
var namedLast = sync.OnceValue(func() (names []string) {
	views, _ := Views()
	for _, v := range views {
		read, err := readBy([]string{v.Name})
		if err == nil && read[schema.StackTree.Name] && strings.Contains(v.SQL, "LEFT JOIN experiment_names") {
			names = append(names, v.Name)
		}
	}
	return names
})

// words are the names in SQL, those of columns among them.
func words(sql string) []string {
	return strings.FieldsFunc(sql, func(c rune) bool { return c >= 0x80 || !isName(byte(c)) })
}
