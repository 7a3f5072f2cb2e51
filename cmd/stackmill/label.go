package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stackmill/queries"
	"stackmill/storedir"
)

func newLabelCommand(a *app) *cobra.Command {
	var remove []string
	c := &cobra.Command{
		Use:   "label SELECTOR... KEY=VALUE...",
		Short: "Name groups of experiments",
		Long: `Gives labels to the experiments that a SELECTOR stands for:
` + queries.SelectorHelp + `.

The first argument is a SELECTOR, and so are those after it before the first KEY=VALUE.
A key has letters, digits, "_", "-" and ".", and is not the name of a column of
"experiments". A label replaces one of the same key; KEY= removes it, as --remove does.

phase.NAME=FROM..UNTIL names a time of the experiments: seconds from their start, or UTC
(phase.load=2026-11-21T02:00..2026-11-21T02:10), one of which may be left out, or several
with blanks between them. "report --between NAME" shows what was done then.`,
		Example: `  stackmill label test.1.er test.2.er variant=base
  stackmill label 'host=web7,night=2026-11-21' broken=yes
  stackmill label 'night-*/*.er' --remove broken
  stackmill label test.1.er phase.warmup=..10s phase.load=10s..90s`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			n := 1
			for n < len(args) && !strings.Contains(args[n], "=") {
				n++
			}
			l, err := parseLabels(args[n:])
			for _, key := range remove {
				if l.Remove = append(l.Remove, key); err == nil {
					err = checkLabelKey(key)
				}
			}
			switch {
			case err != nil:
				return usageErrorf("label: %w", err)
			case len(l.Set)+len(l.Remove) == 0:
				return usageErrorf("label: no label is given (write KEY=VALUE, or --remove KEY)")
			}
			db, err := a.open(cmd.Context(), args[:n]...)
			if err != nil {
				return fmt.Errorf("label: %w", err)
			}
			for _, e := range db.Experiments() {
				l.Experiments = append(l.Experiments, e.ExperimentID)
			}
			_ = db.Close() // it was only read
			err = a.change(cmd.Context(), func(c *storedir.Contents) error { return c.Label(l, programVersion()) })
			if err != nil {
				return fmt.Errorf("label: %w", err)
			}
			return a.printf("%d experiments labelled\n", len(l.Experiments))
		},
	}
	c.Flags().StringArrayVar(&remove, "remove", nil, "take the label of this key away, may be repeated")
	return c
}

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
		if strings.HasPrefix(key, queries.PhaseLabel) {
			if value, err = queries.Phase(value); err != nil {
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

var labelKey = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

// checkLabelKey returns why a label cannot have a key.
func checkLabelKey(key string) error {
	switch {
	case !labelKey.MatchString(key):
		return fmt.Errorf("%q cannot be the key of a label (letters, digits, _, - and . can)", key)
	case queries.IsColumn(key):
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
