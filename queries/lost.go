package queries

import (
	"fmt"
	"strings"

	"stackmill/pattern"
	"stackmill/storedir"
)

// LostFile is the error of a query that needs a file of the store which is missing or damaged,
// or has something else in its place.
type LostFile struct {
	Path  string
	doing string // what failed, with a colon
	cause error
}

func (e *LostFile) Error() string {
	return fmt.Sprintf("%sa file of the store is missing or damaged: %s (stackmill check lists files that are missing or damaged)", e.doing, e.Path)
}

func (e *LostFile) Unwrap() error { return e.cause }

// lost is what the locked engine says of such a file: it may not open it, or takes its path for
// a folder or a pattern.
var lost = pattern.Lazy(`(?s)(?:\w+ Error: )?(?:Cannot access file|No files found that match the pattern|Cannot open file) "([^"]*/tables/(\w+)/([^"/]+)\.parquet)(?:/\*\*/\*\.parquet)?"`)

// FindLostFile returns the file of a store that an error is about, nil if it is about something
// else.
func FindLostFile(err error) *LostFile {
	if err == nil {
		return nil
	}
	text := err.Error()
	m := lost().FindStringSubmatch(text)
	if m == nil || !storedir.IsFile(storedir.File{Table: m[2], Path: storedir.FilePath(m[2], m[3])}, storedir.BatchOf(m[3])) {
		return nil
	}
	doing, _, _ := strings.Cut(text, m[0])
	return &LostFile{unescaped.Replace(m[1]), doing, err}
}

// unescaped undoes what literal does.
var unescaped = strings.NewReplacer("[*]", "*", "[?]", "?", "[[]", "[")
