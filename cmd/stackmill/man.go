//go:build cgo

package main

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// newManCommand returns the hidden command that writes manual pages, one for each verb, and shell
// completions, for packages of stackmill. The date of the pages is $SOURCE_DATE_EPOCH.
func newManCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "man FOLDER",
		Short:  "Write manual pages and shell completions, for packages",
		Args:   arguments(1, 1, "FOLDER"),
		Hidden: true,
		RunE: func(c *cobra.Command, args []string) error {
			root, at := c.Root(), func(names ...string) string { return filepath.Join(append([]string{args[0]}, names...)...) }
			for _, folder := range []string{at("man"), at("completions", "bash"), at("completions", "zsh"), at("completions", "fish")} {
				if err := os.MkdirAll(folder, 0o777); err != nil {
					return err
				}
			}
			root.DisableAutoGenTag = true
			return errors.Join(
				doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "stackmill"}, at("man")),
				root.GenBashCompletionFileV2(at("completions", "bash", "stackmill"), true),
				root.GenZshCompletionFile(at("completions", "zsh", "_stackmill")),
				root.GenFishCompletionFile(at("completions", "fish", "stackmill.fish"), true))
		},
	}
}
