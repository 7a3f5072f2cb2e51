// Package lake exports a store as tables of a data lake: lists of Parquet files with the rows of the store's tables and
// views. Packages iceberg and ducklake describe these tables to other engines.
//
// Most tables consist of the store's own files. Tables with data that only commits have, or that is only valid within a
// batch, are copied to the lake's folder batch by batch. Files of deleted positions exclude the rows of deleted
// experiments.
package lake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"stackmill/queries"
	"stackmill/queries/exportfolder"
)

// Table is a table of a lake.
type Table struct {
	Name    string
	Doc     string // describes a row
	Columns []Column
	Files   []File // sorted by path
	Delta   bool   // whether files may use delta encodings, which not all readers support
}

// Column is a column of a table.
type Column struct {
	Name string
	Type string // of DuckDB: one of Types
	Doc  string
}

// Types are the types of columns, which all formats support.
var Types = []string{"VARCHAR", "BIGINT", "INTEGER", "BOOLEAN", "DOUBLE", "TIMESTAMP WITH TIME ZONE"}

// File is a Parquet file with rows of a table.
type File struct {
	Path        string // for readers
	Local       string // for this program
	Rows, Bytes int64
	Deletes     *File // the positions of deleted rows; nil if there are none
}

// Options configure a lake and say where readers find its files.
type Options struct {
	// Location and Store are the URIs of the folder and the store for readers. By default they are file URIs, or the
	// URI of the store on S3.
	Location, Store string
	Views           []string      // further views to export as tables
	Program         string        // version of the program: another one may write other rows
	Keep            time.Duration // how long to keep replaced files for readers
}

// Namespace is the namespace of the tables.
const Namespace = "stackmill"

// stateFile describes the content of a lake's folder.
const stateFile = "lake.json"

// Lake is a folder with the files of a lake that are not the store's. One process locks it at a time.
type Lake struct {
	Options
	Folder string // absolute
	files  *exportfolder.Folder
	state  state
	used   map[string]bool // files in the tables, relative to the folder
}

// state is the content of stateFile.
type state struct {
	Formats []string             `json:"formats"`           // in the folder
	Retired map[string]time.Time `json:"retired,omitempty"` // when files were replaced, by path relative to the folder
}

// Open locks a folder. It creates a missing folder; an existing one must be empty or a lake's.
func Open(folder string, o Options) (_ *Lake, err error) {
	if folder, err = filepath.Abs(folder); err != nil {
		return nil, err
	}
	if !utf8.ValidString(folder) {
		return nil, fmt.Errorf("%s: the path is not valid UTF-8, so tables of a lake cannot refer to it (rename the folder)", folder)
	}
	at, text, err := exportfolder.Open(folder, stateFile)
	if err != nil {
		return nil, err
	}
	l := &Lake{Options: o, Folder: folder, files: at, used: map[string]bool{}}
	if text == nil {
		err = l.save(state{}) // marks the folder as a lake's even if the export fails
	} else if err = json.Unmarshal(text, &l.state); err != nil {
		err = fmt.Errorf("%s: %w (empty the folder to export everything again)", filepath.Join(folder, stateFile), err)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

func (l *Lake) save(s state) error {
	l.state = s
	return l.files.Save(s)
}

// Close unlocks the folder.
func (l *Lake) Close() error { return l.files.Close() }

// Formats returns the formats in the folder and this one.
func (l *Lake) Formats(with string) []string {
	return slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(l.state.Formats), with))))
}

// Finish records that the folder has these formats of the tables returned by Tables. It deletes files that no table has
// used for the time in Keep, and returns their number.
func (l *Lake) Finish(formats []string) (removed int, err error) {
	now := time.Now()
	retired := map[string]time.Time{}
	files, err := filepath.Glob(filepath.Join(l.Folder, Namespace, "*", dataDir, "*"))
	if err != nil {
		return 0, err
	}
	var old []string
	for _, file := range files {
		name, err := filepath.Rel(l.Folder, file)
		if err != nil {
			return 0, err
		}
		since, known := l.state.Retired[name]
		switch {
		case l.used[name]:
		case strings.HasSuffix(name, tempSuffix): // left by a killed program
			old = append(old, file)
		case !known:
			retired[name] = now
		case now.Sub(since) > l.Keep:
			old = append(old, file)
		default:
			retired[name] = since
		}
	}
	if err := l.save(state{formats, retired}); err != nil {
		return 0, err
	}
	for _, file := range old {
		if err := os.Remove(file); err != nil {
			return removed, err
		}
		removed++
	}
	return removed, nil
}

const (
	dataDir    = "data"
	tempSuffix = ".tmp"
)

// readerURI returns the URI of a folder for readers.
func readerURI(location, folder string) string {
	if location == "" {
		return "file://" + filepath.ToSlash(folder)
	}
	return strings.TrimRight(location, "/")
}

// Base returns the URI of the lake's folder for readers.
func (l *Lake) Base() string { return readerURI(l.Location, l.Folder) }

// Tables returns the tables of an open store. It writes missing copies and positions of deleted rows, so that all files
// exist.
func (l *Lake) Tables(ctx context.Context, db *queries.DB) ([]Table, error) {
	clear(l.used)
	w, err := l.writer(ctx, db)
	if err != nil {
		return nil, err
	}
	if err := w.checkFiles(); err != nil {
		return nil, err
	}
	tables := make([]Table, len(w.sources))
	for i, s := range w.sources {
		tables[i] = s.Table
		if err := os.MkdirAll(filepath.Join(l.Folder, Namespace, s.Name, dataDir), 0o777); err != nil {
			return nil, err
		}
	}
	for i := range w.batches {
		if err := w.batch(ctx, &w.batches[i], tables); err != nil {
			return nil, fmt.Errorf("batch %s: %w", w.batches[i].Batch, err)
		}
	}
	for i := range tables {
		slices.SortFunc(tables[i].Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	}
	return tables, nil
}
