// Package exportfolder manages folders that exports update again and again. One process at a time writes to a folder,
// and a file in the folder lists its content.
package exportfolder

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

	"stackmill/queries"
	"stackmill/schema/storedir"
)

// Folder is a locked folder.
type Folder struct {
	Path string
	list string // path of the file that lists the folder's content
	lock *os.File
}

const (
	lockFile = ".lock"
	maxList  = 1 << 30 // limit of bytes in the list
)

// Open locks a folder and reads its list, the file with the name list. text is nil if there is no list yet. It
// creates the folder if it does not exist; an existing folder must be empty or have a list.
func Open(path, list string) (f *Folder, text []byte, err error) {
	if err := os.MkdirAll(path, 0o777); err != nil {
		return nil, nil, err
	}
	f = &Folder{Path: path, list: filepath.Join(path, list)}
	if _, err := os.Stat(f.list); errors.Is(err, fs.ErrNotExist) {
		if err := isEmpty(path, list); err != nil {
			return nil, nil, err
		}
	}
	if f.lock, err = os.OpenFile(filepath.Join(path, lockFile), os.O_CREATE|os.O_RDWR, 0o666); err != nil {
		return nil, nil, err
	}
	if syscall.Flock(int(f.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return nil, nil, errors.Join(fmt.Errorf("%s: another process writes to it", path), f.lock.Close())
	}
	// Only now, under the lock: another process may just have written it.
	text, err = storedir.ReadFile(f.list, maxList)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, errors.Join(err, f.lock.Close())
	}
	if err == nil && text == nil {
		text = []byte{}
	}
	return f, text, nil
}

// isEmpty returns an error if a folder without a list has files, except those that an interrupted export left.
func isEmpty(path, list string) error {
	entries, err := os.ReadDir(path)
	for _, e := range entries {
		left := strings.Contains(e.Name(), list) && strings.HasSuffix(e.Name(), ".tmp") // a killed program left it
		if e.Name() != lockFile && !left {
			return fmt.Errorf("%s has files but no %s, so it is not an earlier export (choose an empty folder)", path, list)
		}
	}
	return err
}

// Save replaces the file that lists the folder's content.
func (f *Folder) Save(list any) error {
	text, err := json.MarshalIndent(list, "", " ")
	if err != nil {
		return err
	}
	return WriteFile(f.list, append(text, '\n'))
}

// Close unlocks the folder.
func (f *Folder) Close() error { return f.lock.Close() }

// CheckView returns an error if a view does not exist or has no column experiment_id.
func CheckView(ctx context.Context, db *queries.DB, view string) error {
	all, err := db.Texts(ctx, "SELECT table_name FROM duckdb_columns() WHERE database_name = current_catalog() AND column_name = 'experiment_id' ORDER BY ALL")
	if err == nil && !slices.Contains(all, view) {
		err = fmt.Errorf("no view %q with a column experiment_id%s", view, queries.Suggest(view, all))
	}
	return err
}

// WriteFile replaces a file atomically: readers find either the old or the new content.
func WriteFile(path string, text []byte) error {
	temp := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".tmp")
	if err := os.WriteFile(temp, text, 0o666); err != nil {
		return err
	}
	return storedir.ReplaceFile(temp, path)
}
