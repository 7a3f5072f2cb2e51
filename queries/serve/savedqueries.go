package serve

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits of the folder of saved queries.
const (
	maxSavedQueries = 500
	maxSavedQuery   = 64 << 10 // bytes
)

// savedQuery is a query in a file of the folder of saved queries.
type savedQuery struct {
	Name string `json:"name"` // of the file, without .sql
	SQL  string `json:"sql"`
}

// listSavedQueries answers with the queries in the folder that the server was told, sorted by name.
func listSavedQueries(w *job) error {
	found := []savedQuery{}
	dir := w.from.(*lease).Queries
	if dir == "" {
		return w.writeJSON(found)
	}
	files, err := os.ReadDir(dir) // sorted by name
	if err != nil {
		return fmt.Errorf("read the saved queries: %w", err)
	}
	files = slices.DeleteFunc(files, func(f os.DirEntry) bool {
		return f.IsDir() || strings.HasPrefix(f.Name(), ".") || filepath.Ext(f.Name()) != ".sql"
	})
	if len(files) > maxSavedQueries {
		w.warn("%d of the %d files in the folder of saved queries are left out: it may have %d", len(files)-maxSavedQueries, len(files), maxSavedQueries)
		files = files[:maxSavedQueries]
	}
	for _, f := range files {
		q := savedQuery{Name: strings.TrimSuffix(f.Name(), ".sql")}
		if q.SQL, err = readSavedQuery(filepath.Join(dir, f.Name())); err != nil {
			w.warn("the saved query %s is left out: %v", q.Name, err)
			continue
		}
		found = append(found, q)
	}
	return w.writeJSON(found)
}

// readSavedQuery returns the text of a regular file that is not too long.
func readSavedQuery(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("it is not a regular file")
	case info.Size() > maxSavedQuery:
		return "", fmt.Errorf("it has more than %d bytes", maxSavedQuery)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	if !utf8.Valid(text) {
		return "", fmt.Errorf("it is not text in UTF-8")
	}
	return strings.TrimSpace(string(text)), nil
}
