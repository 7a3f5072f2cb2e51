package queries

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"stackmill/schema"
	"stackmill/schema/storedir"
)

// SelectorHelp explains selectors, in the help of verbs with selectors as arguments.
const SelectorHelp = `a name or id; a pattern over names and paths (night-*/*.er); KEY=VALUE, a label or a column of "experiments" (host=web7), or KEY=FROM..UNTIL (night=2026-11-19..); several, separated by commas, must all match`

// ErrNone is wrapped by the errors of selectors that match no experiment.
var ErrNone = errors.New("no experiment")

// selection finds the experiments of a store that selectors match.
type selection struct {
	ctx         context.Context
	whole       func() (*DB, error) // opens the store with all experiments
	experiments []Experiment

	db *DB // what whole returned, until any ends
}

// columns returns a session with the columns of all experiments. The selectors of one call of any share it.
func (s *selection) columns() (db *DB, err error) {
	if s.db == nil {
		s.db, err = s.whole()
	}
	return s.db, err
}

func (s *selection) close() {
	if s.db != nil {
		s.db.Close()
	}
	s.db = nil
}

// Select returns those open experiments that at least one selector matches, sorted by id.
func (db *DB) Select(ctx context.Context, selectors ...string) ([]Experiment, error) {
	chosen, err := db.selected(ctx, Limits{}, selectors)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(db.Experiments()), func(e Experiment) bool { return !chosen[e.ExperimentID] }), nil
}

// selected returns the ids of those open experiments that at least one selector matches.
func (db *DB) selected(ctx context.Context, limits Limits, selectors []string) (map[string]bool, error) {
	whole := func() (*DB, error) { return OpenWith(ctx, db.Store, Options{Limits: limits}) }
	return (&selection{ctx: ctx, whole: whole, experiments: db.Experiments()}).any(selectors)
}

// any returns the ids of the experiments that at least one selector matches.
func (s *selection) any(selectors []string) (map[string]bool, error) {
	defer s.close()
	chosen := map[string]bool{}
	for _, text := range selectors {
		found, err := s.all(text)
		if err != nil {
			return nil, err
		}
		for _, i := range found {
			chosen[s.experiments[i].ExperimentID] = true
		}
	}
	return chosen, nil
}

// all returns the indexes of the experiments that match all comma-separated terms of a selector. If
// the whole selector is a name with commas, it returns the experiments with that name.
func (s *selection) all(selector string) ([]int, error) {
	terms := strings.Split(selector, ",")
	if len(terms) > 1 && matching(s.experiments, selector) != nil {
		terms = []string{selector}
	}
	times := make([]int, len(s.experiments))
	for _, t := range terms {
		found, err := s.term(strings.TrimSpace(t))
		if err != nil {
			return nil, err
		}
		for _, i := range found {
			times[i]++
		}
	}
	var found []int
	for i, n := range times {
		if n == len(terms) {
			found = append(found, i)
		}
	}
	if found == nil {
		return nil, fmt.Errorf("%w matches all of %q (stackmill experiments lists them)", ErrNone, selector)
	}
	return found, nil
}

// term returns the indexes of the experiments that match a term of a selector.
func (s *selection) term(text string) ([]int, error) {
	if found := matching(s.experiments, strings.TrimSuffix(text, "/")); found != nil {
		return found, nil
	}
	key, value, isPair := strings.Cut(text, "=")
	if found, err := s.pair(key, value); isPair && (found != nil || err != nil) {
		return found, err
	}
	if strings.ContainsAny(text, `*?[`) {
		return s.pattern(text)
	}
	var known []string
	for _, e := range s.experiments {
		known = append(known, e.Name, base(e.Name))
	}
	near := Suggest(text, known)
	if isPair {
		near = fmt.Sprintf(", and %q is neither a label nor a column of experiments%s", key, Suggest(key, s.keys()))
	}
	return nil, fmt.Errorf("%w matches %q%s (stackmill experiments lists them)", ErrNone, text, near)
}

// keys returns the keys that are allowed in a term KEY=VALUE.
func (s *selection) keys() []string {
	keys := slices.Collect(maps.Keys(schema.Experiments.Types()))
	for _, e := range s.experiments {
		keys = slices.AppendSeq(keys, maps.Keys(e.Labels))
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// IsColumn reports whether a key is a column of experiments.
func IsColumn(key string) bool {
	_, is := schema.Experiments.Types()[key]
	return is
}

// pattern returns the indexes of the experiments whose name or path a pattern matches. The pattern
// must match the whole, or as many of the last elements as it has itself.
func (s *selection) pattern(text string) (found []int, err error) {
	if _, err := path.Match(text, ""); err != nil {
		return nil, fmt.Errorf("%w matches %q: %w (a pattern has *, ? and [a-z])", ErrNone, text, err)
	}
	parts := strings.Count(text, "/") + 1
	for i, e := range s.experiments {
		if matches(text, e.Name) || matches(text, base(e.Name)) || matches(text, lastParts(e.Path, parts)) {
			found = append(found, i)
		}
	}
	if found == nil {
		return nil, fmt.Errorf("%w in the store has a name or path like %q (stackmill experiments lists them)", ErrNone, text)
	}
	return found, nil
}

func matches(pattern, name string) bool {
	ok, _ := path.Match(pattern, name)
	return ok
}

// lastParts returns the last n elements of a path. For an absolute pattern, whose first element is
// empty, it returns the whole path.
func lastParts(name string, n int) string {
	at := len(name)
	for ; n > 0 && at >= 0; n-- {
		at = strings.LastIndexByte(name[:at], '/')
	}
	return name[at+1:]
}

// pair returns the indexes of the experiments that have the label key=value. If no experiment has a
// label with that key, it looks for a column of the table experiments with that name. If no experiment
// has the value, and it is written as a range, pair returns the experiments with a value in the range.
// Both results are nil if the key is neither.
func (s *selection) pair(key, value string) (found []int, err error) {
	kind, isColumn := schema.Experiments.Types()[key]
	isLabel := false
	var known []string
	for i, e := range s.experiments {
		if key == storedir.StartedLabel {
			break // the column has the label's value
		}
		if has, ok := e.Labels[key]; ok {
			isLabel = true
			if known = append(known, has); has == value {
				found = append(found, i)
			}
		}
	}
	if isColumn {
		ids, values, err := s.column(key, value, kind)
		if err != nil {
			return nil, err
		}
		known = append(known, values...)
		for i, e := range s.experiments {
			_, labeled := e.Labels[key]
			labeled = labeled && key != storedir.StartedLabel
			if _, has := slices.BinarySearch(ids, e.ExperimentID); has && !labeled {
				found = append(found, i)
			}
		}
	}
	if from, until, isRange := rangeOf(value); isRange && found == nil && (isLabel || isColumn) {
		return s.between(key, from, until)
	}
	if found == nil && (isLabel || isColumn) {
		slices.Sort(known)
		return nil, fmt.Errorf("%w in the store has %s=%s%s", ErrNone, key, value, Suggest(value, slices.Compact(known)))
	}
	return found, nil
}

// column returns the ids, sorted, of the experiments with a value in a column of the table
// experiments. If there are none, it returns the values that exist there.
func (s *selection) column(name, value string, kind schema.Type) (ids, known []string, err error) {
	db, err := s.columns()
	if err != nil {
		return nil, nil, err
	}
	text := identifier(name) + "::VARCHAR"
	is := text + " = ?"
	if kind == schema.Time { // a prefix: a day, an hour, ...
		is, value = "starts_with(strftime("+identifier(name)+", '%Y-%m-%d %H:%M:%S'), ?)", strings.Replace(strings.TrimSuffix(value, "Z"), "T", " ", 1)
	}
	if ids, err = db.Texts(s.ctx, "SELECT experiment_id FROM experiments WHERE "+is+" ORDER BY 1", value); err != nil || ids != nil {
		return ids, nil, err
	}
	known, err = db.Texts(s.ctx, "SELECT DISTINCT "+text+" FROM experiments WHERE "+identifier(name)+" IS NOT NULL ORDER BY 1")
	return nil, known, err
}
