// Package storedir is the directory of a store: the folders and names of its files, the commits
// that say which files count, and the repair of what killed programs left. The writing and the
// reading side share this package.
//
// A store is a directory:
//
//	tables/<table>/<attempt>.parquet   immutable
//	commits/<batch>.json               names the batch's files; immutable
//	staging/<attempt>.lock, /          lock and files of a batch that is being written
//
// or a local cache of a remote store: see Remote.
//
// A batch holds one large experiment or many small ones. It exists once its commit file
// exists. That file is written last, under a temporary name, flushed, and linked to its own
// name, which succeeds for exactly one process. An attempt to write a batch has the batch's
// name, plus a random part if another attempt has that name, so that no attempt touches
// another's files.
//
// No lock decides what counts. An experiment that is ingested again has entries in several
// commits: the entry of the highest generation counts. If concurrent writers made entries of
// the same generation, the one that includes more label changes wins, then the one of the first
// batch by name. Metadata commits have no files: they delete experiments, completely or all but
// their summaries, and label them.
//
// Start reading with ReadContents (contents.go), which reads the commits; visibility.go decides
// which of them count, and WriteDraft writes one.
package storedir

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"
	fast "github.com/goccy/go-json"
	"golang.org/x/sys/unix"

	"stackmill/schema"
)

// The folders of a store.
const (
	TablesDir  = "tables"
	CommitsDir = "commits"
	StagingDir = "staging"
)

const (
	commitSuffix = ".json"
	fileSuffix   = ".parquet"
)

// VersionKey is the key of the store's format version in a Parquet footer.
const VersionKey = "stackmill.store_version"

// Commit describes one batch.
type Commit struct {
	Batch        string    `json:"batch"`
	StoreVersion string    `json:"store_version"`
	Ingested     time.Time `json:"ingested"`
	Program      string    `json:"program,omitempty"` // version of the program that wrote it
	// Experiments are those with rows in the files, in the rows' order; without files, those
	// that are deleted.
	Experiments  []Entry       `json:"experiments"`
	Labels       *Labels       `json:"labels,omitempty"`   // label changes, in a commit without experiments
	LabelChanges []LabelChange `json:"given,omitempty"`    // label changes of the commits that it replaces
	Replaces     []string      `json:"replaces,omitempty"` // batches that are no longer read
	Files        []File        `json:"files"`
	// Checksum is the xxhash64 of the commit file with zeros in place of the checksum.
	Checksum string `json:"checksum"`
}

// Entry is an experiment in a commit.
type Entry struct {
	ExperimentID string   `json:"experiment_id"`
	Generation   int      `json:"generation"`         // from 1: how often it was ingested or deleted
	Experiment   string   `json:"experiment"`         // base name of the recording
	Path         string   `json:"path"`               // absolute path of the recording
	Status       string   `json:"status"`             // as experiments.status, or a status of a deleted experiment
	Was          string   `json:"was,omitempty"`      // the status before it was Forgotten or a Summary
	Recorded     string   `json:"recorded,omitempty"` // a hash of what was recorded, where and when; empty if unknown
	Unclosed     bool     `json:"unclosed,omitempty"` // the collector had not finished the recording
	Instead      []string `json:"instead,omitempty"`  // the ids of experiments that it replaces
	// Ingested is when it was ingested, if that was not when its commit was made.
	Ingested time.Time `json:"ingested,omitzero"`
	// Labels are its own and, overridden by these, the labels of Instead. LabelCommits names the
	// commits whose label changes they include.
	Labels       map[string]string `json:"labels,omitempty"`
	LabelCommits []string          `json:"labelled,omitempty"`
	Samples      int64             `json:"samples"`
	Objects      int64             `json:"objects"` // load objects whose files were found
	// If the recording lost data: the files that were looked for outside of it, a hash of their
	// state and of everything else that may change the result, and a hash of the result.
	Looked  []string `json:"looked,omitempty"`
	State   string   `json:"state,omitempty"`
	Outcome string   `json:"outcome,omitempty"`
}

// The statuses of deleted experiments.
const (
	// Reingest marks an experiment whose files are damaged: its recording must be ingested
	// again.
	Reingest = "again"
	// Forgotten marks a deleted experiment.
	Forgotten = "forgotten"
	// Summary marks an experiment that keeps only its description and the sums of its functions.
	Summary = "summary"
)

// Recording returns the status of the recording, whatever happened to it in the store.
func (e *Entry) Recording() string { return cmp.Or(e.Was, e.Status) }

// finished reports whether the recording is complete and nothing of it was lost.
func (e *Entry) finished() bool { return e.Recording() == "complete" }

// IngestedAt returns when an experiment was ingested, given its commit's time.
func (e *Entry) IngestedAt(committed time.Time) time.Time {
	if e.Ingested.IsZero() {
		return committed
	}
	return e.Ingested
}

// File is one Parquet file of a batch.
type File struct {
	Table    string `json:"table"`
	Path     string `json:"path"` // relative to the store, with slashes
	Rows     int64  `json:"rows"`
	Bytes    int64  `json:"bytes"`
	Checksum string `json:"checksum"` // xxhash64 of the file, 16 hex digits
	// Footer is the xxhash64 of the metadata at the file's end, which Parquet readers read
	// first: engines check the checksums of pages, but the metadata has none. Older commits lack
	// it.
	Footer string `json:"footer,omitempty"`
}

var (
	// ErrNoStore says that a directory is not a store.
	ErrNoStore = errors.New("no store")
	// ErrExists says that another attempt has committed the batch.
	ErrExists = errors.New("the batch is in the store already")
	// ErrLost says that files of a batch disappeared before it was committed.
	ErrLost = errors.New("the file was removed or changed before it was committed (run the same command again)")
	// ErrDamaged says that a commit file has changed since it was written.
	ErrDamaged = errors.New("damaged")
)

// noChecksum replaces the checksum in a commit file while it is computed.
const noChecksum = "0000000000000000"

// Encode returns the content of the commit file, with its checksum.
func (c Commit) Encode() ([]byte, error) {
	c.Checksum = noChecksum
	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return nil, err
	}
	data = append(data, '\n')
	at := bytes.LastIndex(data, []byte(noChecksum))
	copy(data[at:], Checksum(xxhash.Sum64(data)))
	return data, nil
}

// Decode parses a batch's commit file. The error wraps ErrDamaged unless the commit has another
// version of the store format, which this program cannot judge. Of a damaged one, the commit has
// the readable part.
func Decode(batch string, data []byte) (c Commit, err error) {
	unmarshal := json.Unmarshal
	if checksumMatches(data) {
		unmarshal = fast.Unmarshal
	}
	if err := unmarshal(data, &c); err != nil {
		if len(data) == 0 {
			err = errors.New("it is empty")
		}
		return c, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if c.Checksum == "" && c.StoreVersion != "" && c.StoreVersion != schema.StoreVersion {
		return c, nil // older versions have no checksum
	}
	zeroed := bytes.Clone(data)
	if at := bytes.LastIndex(zeroed, []byte(c.Checksum)); len(c.Checksum) == len(noChecksum) && at >= 0 {
		copy(zeroed[at:], noChecksum)
	}
	if sum := Checksum(xxhash.Sum64(zeroed)); sum != c.Checksum {
		return c, fmt.Errorf("%w: it has checksum %s, but says %q", ErrDamaged, sum, c.Checksum)
	}
	if c.Batch != batch {
		return c, fmt.Errorf("%w: it is the commit of batch %s", ErrDamaged, c.Batch)
	}
	if c.StoreVersion == schema.StoreVersion || schema.IsOlder(c.StoreVersion) { // others are not read
		if err := c.verify(); err != nil {
			return Commit{Batch: c.Batch, StoreVersion: c.StoreVersion, Ingested: c.Ingested}, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
	}
	return c, nil
}

// checksumMatches reports whether a file ends with its checksum, as Encode writes it. Such a file
// may be parsed by a decoder that takes a third of the time: opening a store of ten thousand
// experiments is mostly that.
func checksumMatches(data []byte) bool {
	const before = `"checksum": "`
	at := bytes.LastIndex(data, []byte(before)) + len(before)
	end := at + len(noChecksum)
	if at < len(before) || end > len(data) {
		return false
	}
	h := xxhash.New()
	for _, part := range [][]byte{data[:at], []byte(noChecksum), data[end:]} {
		_, _ = h.Write(part) // it cannot fail
	}
	return Checksum(h.Sum64()) == string(data[at:end])
}

// IsIntact reports whether data is the commit file of a batch, as it was written.
func IsIntact(batch string, data []byte) bool {
	if bytes.HasPrefix(data, commitHeader(batch)) && checksumMatches(data) {
		return true
	}
	_, err := Decode(batch, data)
	return err == nil
}

// Checksum formats an xxhash64 as commits do.
func Checksum(sum uint64) string { return fmt.Sprintf("%016x", sum) }

// BatchName returns the name of a batch: the id of its only experiment, followed by the
// generation if that is not the first, or a hash of several.
func BatchName(experiments []Entry) string {
	if len(experiments) == 1 {
		return numberedName(experiments[0].ExperimentID, experiments[0].Generation)
	}
	id := schema.NewID("batch")
	for _, e := range experiments {
		id.Text(e.ExperimentID).Number(uint64(e.Generation))
	}
	return fmt.Sprintf("%s%016x", manyPrefix, id.Sum())
}

// Prefixes of commits that are not of one experiment.
const (
	manyPrefix      = "b" // of several
	tombstonePrefix = "f" // that takes experiments out
	labelsPrefix    = "l" // that labels experiments
)

// IsTombstone reports whether a name belongs to a commit that deletes experiments.
func IsTombstone(batch string) bool { return isPrefixed(batch, tombstonePrefix) }

// IsLabels reports whether a name belongs to a commit that labels experiments.
func IsLabels(batch string) bool { return isPrefixed(batch, labelsPrefix) }

// isPrefixed distinguishes the prefix from the first digit of an experiment's id.
func isPrefixed(batch, prefix string) bool {
	stem, _ := splitName(batch)
	return strings.HasPrefix(stem, prefix) && len(stem) == len(prefix)+len(noChecksum)
}

// newName returns a unique name.
func newName(prefix string) string { return fmt.Sprintf("%s%016x", prefix, rand.Uint64()) }

// numberedName returns the n-th name of a stem, from 1.
func numberedName(stem string, n int) string {
	if n == 1 {
		return stem
	}
	return stem + "." + strconv.Itoa(n)
}

// splitName is the inverse of numberedName.
func splitName(batch string) (stem string, n int) {
	if i := strings.LastIndexByte(batch, '.'); i > 0 {
		if n, err := strconv.Atoi(batch[i+1:]); err == nil && n > 1 && numberedName(batch[:i], n) == batch {
			return batch[:i], n
		}
	}
	return batch, 1
}

func commitPath(store, batch string) string {
	return filepath.Join(store, CommitsDir, batch+commitSuffix)
}

// ReadCommit returns the commit of a batch; the error is fs.ErrNotExist if there is none.
func ReadCommit(store, batch string) (Commit, error) {
	d := readCommitFile(store, batch).parse()
	return d.Commit, d.Err
}

// Draft is a commit on disk that does not count yet.
type Draft struct {
	store   string
	file    string // in the writer's own folder
	content []byte
	commit  Commit
}

// WriteDraft writes a commit to its writer's own folder.
func WriteDraft(store string, attempt *Scratch, c Commit) (*Draft, error) {
	content, err := c.Encode()
	if err != nil {
		return nil, err
	}
	d := &Draft{store, filepath.Join(attempt.Dir, "commit"+commitSuffix), content, c}
	if err := writeFlushed(d.file, content); err != nil {
		return nil, fmt.Errorf("commit %s: %w", c.Batch, err)
	}
	return d, nil
}

// Commit makes a batch exist, whose files are on disk. The error is ErrExists if it already
// exists, ErrLost if its files are gone. made reports whether the commit counts, whatever the
// error.
func (d *Draft) Commit() (made bool, err error) {
	if err := d.commit.complete(d.store); err != nil {
		return false, err
	}
	if r := remoteOf(d.store); r != nil {
		return r.commit(&d.commit, d.file, d.content)
	}
	path := commitPath(d.store, d.commit.Batch)
	err = create(d.file, path)
	switch {
	case errors.Is(err, os.ErrExist):
		return false, fmt.Errorf("commit %s: %w", d.commit.Batch, ErrExists)
	case err != nil:
		return false, fmt.Errorf("commit %s: %w", d.commit.Batch, err)
	}
	err = SyncDir(filepath.Join(d.store, CommitsDir))
	if lost := d.commit.complete(d.store); lost != nil && os.Remove(path) == nil {
		return false, lost
	}
	return true, err
}

// WriteCommit writes a commit and makes its batch exist, like Draft.Commit.
func WriteCommit(store string, attempt *Scratch, c Commit) (made bool, err error) {
	d, err := WriteDraft(store, attempt, c)
	if err != nil {
		return false, err
	}
	return d.Commit()
}

// PathOf returns the path of a table's file, empty if the batch has no rows of the table.
func (c *Commit) PathOf(t *schema.Table) string {
	for _, f := range c.Files {
		if f.Table == t.Name {
			return f.Path
		}
	}
	return ""
}

// complete returns an error if files of the commit are gone: if this machine was suspended for
// long, another one may have considered the attempt abandoned.
func (c *Commit) complete(store string) error {
	for _, f := range c.Files {
		if info, err := os.Lstat(filepath.Join(store, filepath.FromSlash(f.Path))); errors.Is(err, os.ErrNotExist) || err == nil && info.Size() != f.Bytes {
			return fmt.Errorf("commit %s: %s: %w", c.Batch, f.Path, ErrLost)
		}
	}
	return nil
}

// create renames a file, unless there is a file of the new name.
func create(temp, path string) error {
	err := os.Link(temp, path)
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.ENOSYS) { // the file system has no links
		err = unix.Renameat2(unix.AT_FDCWD, temp, unix.AT_FDCWD, path, unix.RENAME_NOREPLACE)
	}
	if errors.Is(err, os.ErrExist) && sameFile(temp, path) {
		return nil // a network file system may have done it twice
	}
	return err
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
