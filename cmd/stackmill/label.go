//go:build cgo

package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stackmill/internal/exit"
	"stackmill/queries"
	"stackmill/queries/label"
	"stackmill/queries/text"
	"stackmill/schema/storedir"
)

func newLabelCommand(a *app) *cobra.Command {
	var remove []string
	var chosen selection
	c := &cobra.Command{
		Use:   "label [SELECTOR]... KEY=VALUE...",
		Short: "Set or remove labels",
		Long: `Sets or removes labels of the selected experiments. A SELECTOR is
` + queries.SelectorHelp + `.

The first argument is a SELECTOR, and so are all others before the first KEY=VALUE. With
--experiment, which takes SELECTORs too, the first argument may be a KEY=VALUE. A key
has letters, digits, "_", "-" and ".", and is not the name of a column of "experiments",
except "started". A label replaces one with the same key; KEY= removes it, as --remove does.

started=2026-11-28T02:00Z says when the experiments were started (also 2026-11-28, or
20261128_0200 as in names of files; without a zone in UTC). Without this label, the start is
the recorded one or, if none was recorded, the time of the recording's file minus the
duration. started= takes the label back.

phase.NAME=FROM..UNTIL names a time range of the experiments: seconds from their start,
or UTC (phase.load=2026-11-21T02:00..2026-11-21T02:10). Either end may be left out, and
several ranges may be separated by blanks. "report --between NAME" shows that time.`,
		Example: `  stackmill label test.1.er test.2.er variant=base
  stackmill label 'host=web7,night=2026-11-21' broken=yes
  stackmill label 'night-*/*.er' --remove broken
  stackmill label 'night-28/*' started=2026-11-28T02:00Z
  stackmill label test.1.er phase.warmup=..10s phase.load=10s..90s`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			n := min(1, len(args))
			if len(chosen.option) > 0 {
				n = 0
			}
			for n < len(args) && !strings.Contains(args[n], "=") {
				n++
			}
			l, err := label.Parse(args[n:])
			if i := slices.IndexFunc(args[n:], func(s string) bool { return !strings.Contains(s, "=") }); i >= 0 {
				return exit.Usagef("label: %q comes after a KEY=VALUE, but is none (SELECTORs come first)", args[n+i])
			}
			for _, key := range remove {
				if l.Remove = append(l.Remove, key); err == nil {
					err = label.CheckKey(key)
				}
			}
			switch {
			case err != nil:
				return exit.Usagef("label: %w", err)
			case n+len(chosen.option) == 0:
				return exit.Usagef("label: no SELECTOR is given (see stackmill label --help)")
			case len(l.Set)+len(l.Remove) == 0:
				return exit.Usagef("label: no label is given (write KEY=VALUE, or --remove KEY)")
			}
			db, err := a.open(cmd.Context(), chosen.with(args[:n])...)
			if err != nil {
				return fmt.Errorf("label: %w", err)
			}
			for _, e := range db.Experiments() {
				l.Experiments = append(l.Experiments, e.ExperimentID)
			}
			_ = db.Close() // nothing to lose: opened for reading only
			err = a.changeStore(cmd.Context(), func(c *storedir.Contents) error { return c.Label(l, programVersion()) })
			if err != nil {
				return fmt.Errorf("label: %w", err)
			}
			return a.Printf("%s labeled\n", text.Plural(len(l.Experiments), "experiment"))
		},
	}
	a.addSelection(c, &chosen)
	c.Flags().StringArrayVar(&remove, "remove", nil, "remove the label with this key; may be repeated")
	return c
}
