// Package label parses labels of experiments in the form in which users write them.
package label

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"stackmill/internal/lazyregexp"
	"stackmill/queries/timerange"
	"stackmill/schema"
	"stackmill/schema/storedir"
)

// Parse parses KEY=VALUE arguments. A label without a value is one to remove.
func Parse(args []string) (l storedir.Labels, err error) {
	l.Set = map[string]string{}
	for _, arg := range args {
		key, value, ok := strings.Cut(arg, "=")
		if !ok {
			return l, fmt.Errorf("%q is not a label (write KEY=VALUE)", arg)
		}
		if err := CheckKey(key); err != nil {
			return l, err
		}
		if strings.ContainsFunc(value, func(r rune) bool { return r == ',' || r < ' ' }) {
			return l, fmt.Errorf("label %s: %q has a comma or a control character, so no selector could match it", key, value)
		}
		if key == storedir.StartedLabel && value != "" {
			at, err := storedir.ParseStart(value)
			if err != nil {
				return l, fmt.Errorf("label %s: %w", key, err)
			}
			value = storedir.FormatStart(at)
		}
		if strings.HasPrefix(key, timerange.PhaseLabel) {
			if value, err = timerange.Phase(value); err != nil {
				return l, fmt.Errorf("label %s: %w", key, err)
			}
		}
		if delete(l.Set, key); value == "" {
			l.Remove = append(l.Remove, key)
		} else {
			l.Set[key] = value
		}
	}
	return l, nil
}

var keyPattern = lazyregexp.New(`^[A-Za-z0-9_.-]+$`)

// CheckKey returns an error if the key is not allowed for a label.
func CheckKey(key string) error {
	_, isColumn := schema.Experiments.Types()[key]
	switch {
	case !keyPattern().MatchString(key):
		return fmt.Errorf("%q cannot be the key of a label (use letters, digits, _, - and .)", key)
	case isColumn && key != storedir.StartedLabel:
		return fmt.Errorf("%q cannot be the key of a label: it is a column of experiments", key)
	}
	return nil
}

// Ingest says which labels newly ingested recordings get.
type Ingest struct {
	Given []string // KEY=VALUE
	From  string   // a regular expression for paths, whose named groups are labels
}

// Labels returns a function that returns the labels of a recording by its path; nil if there are
// none.
func (l *Ingest) Labels() (func(path string) map[string]string, error) {
	given, err := Parse(l.Given)
	switch {
	case err != nil:
		return nil, fmt.Errorf("--label: %w", err)
	case len(given.Remove) > 0:
		return nil, fmt.Errorf("--label: %s has no value", given.Remove[0])
	case l.From == "" && len(given.Set) == 0:
		return nil, nil
	case l.From == "":
		return func(string) map[string]string { return given.Set }, nil
	}
	from, err := regexp.Compile(l.From)
	if err != nil {
		return nil, fmt.Errorf("--label-from: %w", err)
	}
	keys := from.SubexpNames()
	if !slices.ContainsFunc(keys, func(key string) bool { return key != "" }) {
		return nil, fmt.Errorf("--label-from: %q has no named group (write (?P<night>[^/]+))", l.From)
	}
	for _, key := range keys {
		if key != "" && CheckKey(key) != nil {
			return nil, fmt.Errorf("--label-from: %w", CheckKey(key))
		}
	}
	return func(path string) map[string]string {
		labels := map[string]string{}
		for i, value := range from.FindStringSubmatch(path) {
			if keys[i] != "" && value != "" {
				labels[keys[i]] = value
			}
		}
		maps.Copy(labels, given.Set)
		return labels
	}, nil
}
