// Package write is the last stage: it writes Parquet files into a store and
// commits them.
//
// A store is a directory:
//
//	tables/<table>/<batch>.parquet   immutable
//	commits/<batch>.json             names the batch's files
//	staging/<batch>-<random>/        files of a batch that is being written
//
// A batch is one experiment and is named by its id. It exists when its commit
// file does; that is written under a temporary name, flushed and renamed after
// all its tables. Two processes that write the same experiment write the same
// bytes, so whoever renames last changes nothing.
package write

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"
)

const (
	tablesDir  = "tables"
	commitsDir = "commits"
	stagingDir = "staging"
)

// Commit names the files of one batch and where its recording was found.
type Commit struct {
	Batch        string    `json:"batch"`
	StoreVersion string    `json:"store_version"`
	ExperimentID string    `json:"experiment_id"`
	Experiment   string    `json:"experiment"` // base name of the recording
	Path         string    `json:"path"`       // absolute path of the recording
	Status       string    `json:"status"`     // as experiments.status
	Ingested     time.Time `json:"ingested"`
	Files        []File    `json:"files"`
}

// File is one Parquet file of a batch.
type File struct {
	Table    string `json:"table"`
	Path     string `json:"path"` // relative to the store, with slashes
	Rows     int64  `json:"rows"`
	Bytes    int64  `json:"bytes"`
	Checksum string `json:"checksum"` // xxhash64 of the file, 16 hex digits
}

// ErrNoStore says that a directory is not a store.
var ErrNoStore = errors.New("no store")

// Commits returns the commits of a store, sorted by batch.
func Commits(store string) ([]Commit, error) {
	entries, err := os.ReadDir(filepath.Join(store, commitsDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", store, ErrNoStore)
	}
	if err != nil {
		return nil, err
	}
	var commits []Commit
	for _, e := range entries {
		batch, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok {
			continue
		}
		c, err := ReadCommit(store, batch)
		if err != nil {
			return nil, err
		}
		commits = append(commits, c)
	}
	sort.Slice(commits, func(i, j int) bool { return commits[i].Batch < commits[j].Batch })
	return commits, nil
}

// ReadCommit returns the commit of one batch; the error is fs.ErrNotExist when
// there is none.
func ReadCommit(store, batch string) (Commit, error) {
	path := filepath.Join(store, commitsDir, batch+".json")
	data, err := os.ReadFile(path)
	if err != nil {
		return Commit{}, err
	}
	var c Commit
	if err := json.Unmarshal(data, &c); err != nil {
		return Commit{}, fmt.Errorf("commit file %s: %w", path, err)
	}
	return c, nil
}

// writeCommit makes the batch exist; staging is the batch's own directory.
func writeCommit(store, staging string, c Commit) error {
	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	dir := filepath.Join(store, commitsDir)
	f, err := os.Create(filepath.Join(staging, "commit.json"))
	if err != nil {
		return err
	}
	if _, err = f.Write(append(data, '\n')); err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, c.Batch+".json"))
	}
	if err != nil {
		return fmt.Errorf("commit %s: %w", c.Batch, err)
	}
	return syncDir(dir)
}

// syncDir flushes a directory, so that renames in it survive a power cut.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
