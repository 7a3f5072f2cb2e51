package queries

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"golang.org/x/sys/unix"

	"stackmill/internal/lazyregexp"
	"stackmill/schema/storedir"
)

// LostFile is the error of a query that needs a file of the store which is missing, damaged or
// replaced.
type LostFile struct {
	Path  string
	doing string // what failed, with a colon
	cause error
}

func (e *LostFile) Error() string {
	what, help := "is missing or damaged", "stackmill check lists files that are missing or damaged"
	switch err := unix.Access(e.Path, unix.R_OK); {
	case errors.Is(err, fs.ErrPermission):
		what, help = "may not be read", "its owner can give you the right"
	case errors.Is(err, fs.ErrNotExist):
		what, help = "is missing", "ask again if a compact with a short --keep has just replaced it; else stackmill check lists what is missing"
	}
	return fmt.Sprintf("%sa file of the store %s: %s (%s)", e.doing, what, e.Path, help)
}

func (e *LostFile) Unwrap() error { return e.cause }

// lost matches the messages of a locked engine about such a file: it may not open it, or takes its
// path for a directory or a pattern.
var lost = lazyregexp.New(`(?s)(?:\w+ Error: )?(?:Cannot access file|No files found that match the pattern|Cannot open file) "([^"]*/tables/(\w+)/([^"/]+)\.parquet)(?:/\*\*/\*\.parquet)?"`)

// FindLostFile returns the file of a store that an error is about; nil if it is about something
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

// unescaped reverses literal.
var unescaped = strings.NewReplacer("[*]", "*", "[?]", "?", "[[]", "[")
