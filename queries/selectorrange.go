package queries

import (
	"fmt"
	"slices"
	"strings"

	"stackmill/internal/lazyregexp"
	"stackmill/schema"
	"stackmill/schema/storedir"
)

// rangeOf splits a value FROM..UNTIL, where either may be missing. A relative path (../x) is not a range.
func rangeOf(value string) (from, until string, is bool) {
	if strings.Contains(value, "...") || strings.Contains(value, "../") || strings.Contains(value, "/..") {
		return "", "", false
	}
	return strings.Cut(value, "..")
}

// between returns the indexes of the experiments whose value of a label or column is in a range that
// includes both ends, in the order of ValueOrder. An empty end is open. A date or hour as until
// includes the whole day or hour.
func (s *selection) between(key, from, until string) (found []int, err error) {
	values, err := s.valuesOf(key)
	if err != nil {
		return nil, err
	}
	known := slices.DeleteFunc(slices.Clone(values), func(v string) bool { return v == "" })
	if schema.Experiments.Types()[key] == schema.Time {
		from, until = timeForm(from), timeForm(until)
	}
	ends := slices.DeleteFunc([]string{from, until}, func(v string) bool { return v == "" })
	compare := ValueOrder(append(slices.Clone(known), ends...))
	after := func(v string) bool {
		return until != "" && compare(v, until) > 0 && !(isTime().MatchString(until) && strings.HasPrefix(v, until))
	}
	if from != "" && after(from) {
		return nil, fmt.Errorf("%w is in %s=%s..%s: %s is before %s", ErrNone, key, from, until, until, from)
	}
	for i, v := range values {
		if v != "" && (from == "" || compare(from, v) <= 0) && !after(v) {
			found = append(found, i)
		}
	}
	if found == nil {
		there := "none has a value"
		if len(known) > 0 {
			there = fmt.Sprintf("there are %s to %s", slices.MinFunc(known, compare), slices.MaxFunc(known, compare))
		}
		return nil, fmt.Errorf("%w is in %s=%s..%s (%s)", ErrNone, key, from, until, there)
	}
	return found, nil
}

// isTime matches a time and the beginnings of one: a year and month, a date, an hour, a minute.
var isTime = lazyregexp.New(`^[0-9]{4}-[0-9]{2}(-[0-9]{2}([T _][0-9]{2}(:[0-9]{2}(:[0-9]{2})?)?)?)?$`)

// timeForm returns a time, or the beginning of one, in the form of valuesOf.
func timeForm(text string) string {
	return strings.NewReplacer(" ", "T", "_", "T", "Z", "").Replace(text)
}

// valuesOf returns each experiment's value of a label or, if it does not have the label, of the column
// of that name; "" if it has neither. Times are in UTC, without a zone.
func (s *selection) valuesOf(key string) ([]string, error) {
	values := make([]string, len(s.experiments))
	if kind, isColumn := schema.Experiments.Types()[key]; isColumn {
		db, err := s.columns()
		if err != nil {
			return nil, err
		}
		text := identifier(key) + "::VARCHAR"
		if kind == schema.Time {
			text = "strftime(" + identifier(key) + ", '%Y-%m-%dT%H:%M:%S')"
		}
		records, err := db.Records(s.ctx, "SELECT experiment_id, COALESCE("+text+", '') AS value FROM experiments")
		if err != nil {
			return nil, err
		}
		of := map[string]string{}
		for _, r := range records {
			of[r.Text("experiment_id")] = r.Text("value")
		}
		for i, e := range s.experiments {
			values[i] = of[e.ExperimentID]
		}
	}
	for i, e := range s.experiments {
		if v, labeled := e.Labels[key]; labeled && key != storedir.StartedLabel {
			values[i] = v
		}
	}
	return values, nil
}
