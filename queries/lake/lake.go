// Package lake exports a store as the tables of a data lake: for each table of the store and for some views, a list
// of Parquet files with its rows. The packages iceberg and ducklake describe these tables to other engines.
//
// Most tables consist of the store's own files. A table is copied to the lake's folder, batch by batch, if its data
// is partly in commits or is valid only within a batch. Files of deleted positions exclude the rows of deleted
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
	Doc     string // what a row is
	Columns []Column
	Files   []File // sorted by path
	Delta   bool   // files may use delta encodings, which some readers do not support
}

// Column is a column of a table.
type Column struct {
	Name string
	Type string // type in DuckDB, one of Types
	Doc  string
}

// Types are the types that columns may have: all formats of lakes support them.
var Types = []string{"VARCHAR", "BIGINT", "INTEGER", "BOOLEAN", "DOUBLE", "TIMESTAMP WITH TIME ZONE"}

// File is a Parquet file with rows of a table.
type File struct {
	Path        string // URI for readers of the lake
	Local       string // path for this program
	Rows, Bytes int64
	Deletes     *File // file with the positions of deleted rows; nil if there are none
}

// Options configure a lake and say where readers find its files.
type Options struct {
	// Location and Store are the URIs under which readers find the lake's folder and the store. By default they are
	// file URIs; for a store on S3, Store is the URI there.
	Location, Store string
	Views           []string      // views to export as tables, besides defaultViews
	Program         string        // version of stackmill: another version may write other rows
	Keep            time.Duration // how long files that were replaced stay for readers
}

// Namespace is the namespace of the tables in the catalogs of lakes.
const Namespace = "stackmill"

// stateFile is the file in a lake's folder that describes its content.
const stateFile = "lake.json"

// Lake is the folder of a lake. It has catalogs, and those data files that are not the store's. Only one process at a
// time may have it open.
type Lake struct {
	Options
	Folder string // absolute path
	files  *exportfolder.Folder
	state  state
	used   map[string]bool // files in the folder that tables use; paths are relative to the folder
}

// state is the content of stateFile.
type state struct {
	Formats []string             `json:"formats"`           // formats in which the folder has a catalog
	Retired map[string]time.Time `json:"retired,omitempty"` // path of a file in the folder -> when tables stopped using the file
}

// Open locks a folder, and creates it if it does not exist. An existing folder must be empty or a lake's.
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
		err = l.save(state{}) // marks the folder as a lake's, in case the export fails
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

// Formats returns the formats that the folder has, sorted, with the format `with` added if it is not
// among them.
func (l *Lake) Formats(with string) []string {
	return slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(l.state.Formats), with))))
}

// Finish saves which formats the folder has. It deletes files that the tables returned by Tables have not used for
// the time Keep, and returns their number.
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
		case strings.HasSuffix(name, tempSuffix): // a killed program left it
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

// readerURI returns the URI under which readers find a folder: location or, if that is empty, a file URI.
func readerURI(location, folder string) string {
	if location == "" {
		return "file://" + filepath.ToSlash(folder)
	}
	return strings.TrimRight(location, "/")
}

// Base returns the URI under which readers find the lake's folder.
func (l *Lake) Base() string { return readerURI(l.Location, l.Folder) }

// Tables returns the tables of an open store. It writes the files in the lake's folder that do not exist yet: copies,
// and positions of deleted rows.
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
