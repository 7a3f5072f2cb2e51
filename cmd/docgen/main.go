// Command docgen generates files from the declarations of tables and views: their reference pages,
// and a source file of package queries. See `make docs`.
package main

import (
	"context"
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
	template, err := queries.Template(context.Background())
	if err != nil {
		return err
	}
	packed, err := queries.Pack(template)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(docs, 0o755); err != nil {
		return err
	}
	for path, content := range map[string][]byte{
		filepath.Join(docs, "tables.md"): []byte(queries.TablesPage()), filepath.Join(docs, "views.md"): []byte(views),
		filepath.Join(sources, queries.TemplateFile): packed,
	} {
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
