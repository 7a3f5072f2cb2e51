package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"stackmill/internal/exit"
	"stackmill/internal/objstore"
	"stackmill/internal/terminal"
)

// addHelp adds cobra's verbs "help" and "completion", and makes them refuse unknown arguments.
func (a *app) addHelp(root *cobra.Command, verbs []string) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Run, c.RunE = nil, func(_ *cobra.Command, words []string) error {
				about, rest, err := root.Find(words)
				if err != nil || about == root && len(rest) > 0 {
					return exit.Usagef("help: %w", a.noSuchVerb(strings.Join(words, " "), verbs))
				}
				about.InitDefaultHelpFlag()
				return about.Help()
			}
		case "completion":
			var shells []string
			for _, shell := range c.Commands() {
				shell.Args = usageArgs(optionsOnly)
				shells = append(shells, shell.Name())
			}
			c.Args, c.RunE = cobra.ArbitraryArgs, func(cmd *cobra.Command, args []string) error {
				if len(args) == 0 {
					return cmd.Help()
				}
				return exit.Usagef("completion: no shell %q (choose one of %s)", args[0], strings.Join(shells, ", "))
			}
		}
	}
}

// pathHint returns the command to suggest if the program is called with a path instead of a verb; ""
// if name does not look like a path.
func pathHint(name string) string {
	quoted := name
	if strings.ContainsAny(name, " \t\n'\"\\$*?[](){}<>|&;!`") {
		quoted = "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
	}
	if objstore.Is(name) {
		return "to read a recording, run stackmill ingest " + quoted
	}
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir() && isFolder(filepath.Join(name, "commits")):
		return fmt.Sprintf("to read this store, run stackmill experiments --store %s", quoted)
	case err == nil && info.IsDir() && !isRecordingName(name):
		return fmt.Sprintf("to read the recordings in this folder, run stackmill ingest %s", quoted)
	case err == nil:
		return fmt.Sprintf("to read this recording, run stackmill ingest %s", quoted)
	case !errors.Is(err, fs.ErrNotExist):
		return "nor can it be read: " + terminal.Wording(errors.Unwrap(err))
	case strings.Contains(name, "/") || isRecordingName(name):
		return "nor is there such a file"
	}
	return ""
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// isRecordingName reports whether a name has a typical ending of recordings.
func isRecordingName(name string) bool {
	name = strings.TrimSuffix(name, "/")
	for _, ending := range []string{".er", ".erg", ".data", ".data.old", ".pb.gz", ".pprof", ".prof"} {
		if strings.HasSuffix(name, ending) {
			return true
		}
	}
	return false
}
