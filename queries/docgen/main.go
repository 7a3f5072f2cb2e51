// Command docgen writes the reference pages of tables and views into the
// directory named. See `make docs`.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"stackmill/queries"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "docgen:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("usage: docgen DIRECTORY")
	}
	views, err := queries.ViewsPage()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(args[0], 0o755); err != nil {
		return err
	}
	for name, page := range map[string]string{"tables.md": queries.TablesPage(), "views.md": views} {
		if err := os.WriteFile(filepath.Join(args[0], name), []byte(page), 0o644); err != nil {
			return err
		}
	}
	return nil
}
