// Package lake makes tables of a data lake of a store: lists of Parquet files with the rows of
// the store's tables and views, which packages iceberg and ducklake describe to other engines.
//
// Most tables are the store's own files. Tables whose files lack what only commits say, or what
// is only right within a batch, are copied to the lake's folder, by batch. Rows of experiments
// that do not count are named by files of deleted positions.
package lake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"stackmill/queries"
	"stackmill/schema/storedir"
)

// Table is a table of a lake.
type Table struct {
	Name    string
	Doc     string // what a row is
	Columns []Column
	Files   []File // by path
	Delta   bool   // whether files may have numbers as differences, which not all readers know
}

// Column is a column of a table.
type Column struct {
	Name string
	Type string // of DuckDB: one of Types
	Doc  string
}

// Types are the types of columns: those that each format has.
var Types = []string{"VARCHAR", "BIGINT", "INTEGER", "BOOLEAN", "DOUBLE", "TIMESTAMP WITH TIME ZONE"}

// File is a Parquet file with rows of a table.
type File struct {
	Path        string // as readers know it
	Local       string // as this program does
	Rows, Bytes int64
	Deletes     *File // the positions of its rows that do not count; nil if all do
}

// Options say where readers find what is in a lake.
type Options struct {
	// Location and Store are the folder and the store as readers know them: URIs. Without
	// them they are those of the files here, or of the store on S3.
	Location, Store string
	Views           []string      // further views that are tables of the lake
	Program         string        // its version: another may write other rows
	Keep            time.Duration // how long files stay that readers may still read
}

// Namespace is the name under which a lake has its tables.
const Namespace = "stackmill"

// stateFile is the file of a folder that says what is in it.
const stateFile = "lake.json"

// Lake is a folder with what a lake has besides the store's files. One process has it at a time.
type Lake struct {
	Options
	Folder string // absolute
	lock   *os.File
	state  state
	used   map[string]bool // files of the tables, relative to the folder
}

// state is the content of stateFile.
type state struct {
	Formats []string             `json:"formats"`           // that the folder has
	Retired map[string]time.Time `json:"retired,omitempty"` // when files ceased to be used, relative to the folder
}

// Open takes a folder, which is made if it is not there, and must be empty if it is none of
// these yet.
func Open(folder string, o Options) (_ *Lake, err error) {
	if folder, err = filepath.Abs(folder); err != nil {
		return nil, err
	}
	if !utf8.ValidString(folder) {
		return nil, fmt.Errorf("%s: the path is not UTF-8, which tables of a lake cannot name (rename the folder)", folder)
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, err
	}
	l := &Lake{Options: o, Folder: folder, used: map[string]bool{}}
	if _, err := os.Stat(filepath.Join(folder, stateFile)); errors.Is(err, fs.ErrNotExist) {
		if err := isEmpty(folder); err != nil {
			return nil, err
		}
	}
	if l.lock, err = os.OpenFile(filepath.Join(folder, lockFile), os.O_CREATE|os.O_RDWR, 0o666); err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(l.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = l.lock.Close()
		return nil, fmt.Errorf("%s: another process writes to it", folder)
	}
	text, err := storedir.ReadFile(filepath.Join(folder, stateFile), mostState)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = l.save(state{}) // from here on it is a lake's, whatever becomes of the export
	case err == nil:
		if err = json.Unmarshal(text, &l.state); err != nil {
			err = fmt.Errorf("%s: %w (empty the folder: all is written again)", filepath.Join(folder, stateFile), err)
		}
	}
	if err != nil {
		_ = l.lock.Close()
		return nil, err
	}
	return l, nil
}

// save notes what is in the folder.
func (l *Lake) save(s state) error {
	l.state = s
	text, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(l.Folder, stateFile), append(text, '\n'))
}

const (
	lockFile  = ".lock"
	mostState = 1 << 30 // bytes of stateFile
)

// isEmpty returns an error if a folder has something of others.
func isEmpty(folder string) error {
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		if e.Name() != lockFile && e.Name() != stateFile+tempSuffix {
			return fmt.Errorf("%s has files, but no %s: it is not what was exported before (name an empty folder)", folder, stateFile)
		}
	}
	return err
}

// Close lets others take the folder.
func (l *Lake) Close() error { return l.lock.Close() }

// Formats are those that the folder has, and this one.
func (l *Lake) Formats(with string) []string {
	return slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(l.state.Formats), with))))
}

// Finish notes that the folder has these formats of the tables that Tables returned last, and
// removes files that no table has had for as long as they are kept. It returns how many.
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
		case strings.HasSuffix(name, tempSuffix): // of a program that was killed
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

// writeFile puts a file in its place, complete.
func writeFile(path string, data []byte) error {
	temp := path + tempSuffix
	if err := os.WriteFile(temp, data, 0o666); err != nil {
		return err
	}
	return storedir.ReplaceFile(temp, path)
}

// base is the place of a folder as readers know it.
func base(location, folder string) string {
	if location == "" {
		return "file://" + filepath.ToSlash(folder)
	}
	return strings.TrimRight(location, "/")
}

// Base is the place of the lake's folder as readers know it.
func (l *Lake) Base() string { return base(l.Location, l.Folder) }

// Tables returns the tables of an open store, whose files are all there. It writes those that
// are missing: copies, and positions of rows that do not count.
func (l *Lake) Tables(ctx context.Context, db *queries.DB) ([]Table, error) {
	clear(l.used)
	w, err := l.writer(ctx, db)
	if err != nil {
		return nil, err
	}
	if err := w.fit(); err != nil {
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
