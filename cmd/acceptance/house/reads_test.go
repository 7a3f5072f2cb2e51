package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// readsFiles finds calls of the SQL engine's functions that read files, and paths in place of
// tables, which the engine reads with options of its own choice.
var readsFiles = regexp.MustCompile(`(?i)(^|[^.\w])(read_(parquet|csv|json|ndjson|text|blob|duckdb|xlsx)\w*|parquet_(scan|metadata|schema|file_metadata|full_metadata|kv_metadata|bloom_probe)|sniff_csv|delta_scan)\s*\(` +
	`|\b(from|join)\s+'[^']*\.(parquet|csv|json)`)

// ownReaders read files without queries.ReadParquet, with the reason.
var ownReaders = map[string]string{
	"queries/parquet.go":                    "it is the one place",
	"queries/forged_test.go":                "hostile statements",
	"queries/files_test.go":                 "it looks at one file, in a folder of its own",
	"queries/serve/lost_test.go":            "hostile statements",
	"queries/serve/serve_test.go":           "hostile statements",
	"cmd/acceptance/house/reads_test.go":    "it is this test",
	"cmd/stackmill/query.go":                "its help shows a file of the reader's own",
	"cmd/acceptance/export/parquet_test.go": "a reader that knows nothing of the store",
}

// The SQL engine takes folders KEY=VALUE for columns unless an option of read_parquet forbids it:
// queries.ReadParquet composes every call, and what people copy from the pages names the option.
func TestOneReadsFiles(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	looked := 0
	err := filepath.WalkDir(root, func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, file)
		if name = filepath.ToSlash(name); e.IsDir() {
			if e.Name() == "node_modules" || name == ".git" || name == "internal/demangle" {
				return filepath.SkipDir
			}
			return nil
		}
		if ownReaders[name] != "" {
			return nil
		}
		var texts []string
		switch filepath.Ext(name) {
		case ".go":
			texts = literals(t, file)
		case ".sql", ".ts":
			texts = []string{read(t, file)}
		case ".md":
			python := false // Polars takes folders for columns only if it is given one folder
			for _, line := range strings.Split(read(t, file), "\n") {
				if strings.HasPrefix(line, "```") {
					python = line == "```python"
				}
				if !python && !strings.Contains(line, "hive_partitioning = false") {
					texts = append(texts, line)
				}
			}
		default:
			return nil
		}
		looked++
		for _, text := range texts {
			if found := readsFiles.FindString(text); found != "" {
				t.Errorf("%s: %q reads files with the options that the SQL engine guesses (use queries.ReadParquet)", name, found)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if looked < 1000 {
		t.Errorf("only %d files were looked at", looked)
	}
	for name := range ownReaders {
		if _, err := os.Stat(filepath.Join(root, name)); err != nil {
			t.Error(err)
		}
	}
}

// literals returns the texts in a Go file.
func literals(t *testing.T, file string) (texts []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			texts = append(texts, l.Value)
		}
		return true
	})
	return texts
}
