package main

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

// parseLabels reads labels as KEY=VALUE; one without a value is to be removed.
func parseLabels(args []string) (l storedir.Labels, err error) {
	l.Set = map[string]string{}
	for _, arg := range args {
		key, value, ok := strings.Cut(arg, "=")
		if !ok {
			return l, fmt.Errorf("%q is no label (write KEY=VALUE; selectors come first)", arg)
		}
		if err := checkLabelKey(key); err != nil {
			return l, err
		}
		if strings.ContainsFunc(value, func(r rune) bool { return r == ',' || r < ' ' }) {
			return l, fmt.Errorf("label %s: %q has a comma or a control character, so that no selector could name it", key, value)
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

var labelKey = lazyregexp.New(`^[A-Za-z0-9_.-]+$`)

// checkLabelKey returns why a label cannot have a key.
func checkLabelKey(key string) error {
	_, isColumn := schema.Experiments.Types()[key]
	switch {
	case !labelKey().MatchString(key):
		return fmt.Errorf("%q cannot be the key of a label (letters, digits, _, - and . can)", key)
	case isColumn:
		return fmt.Errorf("%q cannot be the key of a label: it is a column of experiments", key)
	}
	return nil
}

// ingestLabels are the labels that an ingest gives.
type ingestLabels struct {
	given []string
	from  string
}

// labels returns the labels of a recording by its path; nil if there are none.
func (l *ingestLabels) labels() (func(path string) map[string]string, error) {
	given, err := parseLabels(l.given)
	switch {
	case err != nil:
		return nil, fmt.Errorf("--label: %w", err)
	case len(given.Remove) > 0:
		return nil, fmt.Errorf("--label: %s has no value", given.Remove[0])
	case l.from == "" && len(given.Set) == 0:
		return nil, nil
	case l.from == "":
		return func(string) map[string]string { return given.Set }, nil
	}
	from, err := regexp.Compile(l.from)
	if err != nil {
		return nil, fmt.Errorf("--label-from: %w", err)
	}
	keys := from.SubexpNames()
	if !slices.ContainsFunc(keys, func(key string) bool { return key != "" }) {
		return nil, fmt.Errorf("--label-from: %q has no named group (write (?P<night>[^/]+))", l.from)
	}
	for _, key := range keys {
		if key != "" && checkLabelKey(key) != nil {
			return nil, fmt.Errorf("--label-from: %w", checkLabelKey(key))
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
