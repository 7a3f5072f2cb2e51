// Command docgen writes what follows from the declarations of tables and views: their
// reference pages, and a source of package queries. See `make docs`.
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
	if len(args) != 2 {
		return fmt.Errorf("usage: docgen DOCS QUERIES")
	}
	docs, sources := args[0], args[1]
	views, err := queries.ViewsPage()
	if err != nil {
		return err
	}
	same, err := queries.SameSource()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(docs, 0o755); err != nil {
		return err
	}
	for path, text := range map[string]string{
		filepath.Join(docs, "tables.md"): queries.TablesPage(), filepath.Join(docs, "views.md"): views, filepath.Join(sources, "same.go"): same,
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
