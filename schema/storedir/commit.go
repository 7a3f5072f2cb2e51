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
// A batch holds one large experiment or many small ones. It exists once its commit file exists.
// That file is written last, under a temporary name, flushed, and linked to its own name, which
// succeeds for exactly one process. The name of an attempt to write a batch is the batch's name, or
// that and a random part if another attempt uses it already: no attempt touches another's files.
//
// No lock decides what counts. An experiment that is ingested again has entries in several commits:
// the entry of the highest generation counts. If concurrent writers made entries of the same
// generation, the one that includes more label changes wins, then the one of the first batch by
// name. Metadata commits have no files. They label experiments, or delete them: completely, or all
// but their summaries.
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
	PlansDir   = "plans"
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
	// Experiments are the experiments with rows in the files, in the order of their rows. In a
	// commit without files, they are the deleted ones.
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
	Status       string   `json:"status"`             // a value of experiments.status, or a status of a deleted experiment
	Was          string   `json:"was,omitempty"`      // the status before it was Forgotten or a Summary
	Recorded     string   `json:"recorded,omitempty"` // a hash of what was recorded, where and when; empty if unknown
	Unclosed     bool     `json:"unclosed,omitempty"` // the collector had not finished the recording
	Instead      []string `json:"instead,omitempty"`  // the ids of experiments that it replaces
	// Ingested is when the experiment was ingested; zero: when the commit was made.
	Ingested time.Time `json:"ingested,omitzero"`
	// FileTime is when the recording's file was last modified, as found when the recording was first
	// ingested; zero if unknown, as in commits of older programs.
	FileTime time.Time `json:"file_time,omitzero"`
	// FileOriginal says that FileTime is right: the file was being written for at least half as
	// long as the recording took, so it is not a copy.
	FileOriginal bool `json:"file_original,omitempty"`
	// Labels are the experiment's labels, including those of the experiments in Instead, which its
	// own ones override. LabelCommits names the commits whose label changes Labels includes.
	Labels       map[string]string `json:"labels,omitempty"`
	LabelCommits []string          `json:"labelled,omitempty"`
	Samples      int64             `json:"samples"`
	Objects      int64             `json:"objects"` // load objects whose files were found
	// For a recording that lost data: the files outside of it that were looked for (Looked), a hash
	// of their states and of all else that the result depends on (State), and a hash of the result
	// (Outcome).
	Looked  []string `json:"looked,omitempty"`
	State   string   `json:"state,omitempty"`
	Outcome string   `json:"outcome,omitempty"`
}

// Values of Entry.Status for experiments that are deleted, at least in part.
const (
	// Reingest marks an experiment whose stored files are damaged: it is hidden until it is
	// ingested again.
	Reingest = "again"
	// Forgotten marks an experiment that a user has deleted.
	Forgotten = "forgotten"
	// Summary marks an experiment that keeps only its description and the sums of its functions.
	Summary = "summary"
)

// Recording returns the status that the recording had before it was deleted or summarized, if it
// was.
func (e *Entry) Recording() string { return cmp.Or(e.Was, e.Status) }

// finished reports whether the recording is complete, and no data was lost.
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
	// Footer is the xxhash64 of the metadata at the file's end, which has no checksum in Parquet,
	// unlike the pages. Parquet readers read it first. Older commits lack it.
	Footer string `json:"footer,omitempty"`
}

var (
	// ErrNoStore says that a directory is not a store.
	ErrNoStore = errors.New("no store")
	// ErrExists says that the batch has a commit already, from another attempt.
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

// Decode parses a batch's commit file. If the file is damaged, the error wraps ErrDamaged, and c
// has the part that could be read. A commit of an unknown version of the store format is not
// checked.
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
// can be parsed by a decoder that is three times as fast, which matters: most of the time to open a
// store of ten thousand experiments is spent parsing commits.
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

// IsIntact reports whether data is the unchanged content of a batch's commit file.
func IsIntact(batch string, data []byte) bool {
	if bytes.HasPrefix(data, commitHeader(batch)) && checksumMatches(data) {
		return true
	}
	_, err := Decode(batch, data)
	return err == nil
}

// Checksum formats an xxhash64 as commits do.
func Checksum(sum uint64) string { return fmt.Sprintf("%016x", sum) }

// BatchName returns the name of a batch. For one experiment it is the experiment's id, with the
// generation if that is above 1; for several it is a hash of their ids and generations.
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

// The prefixes of the names of commits that are not one ingested experiment.
const (
	manyPrefix      = "b" // of several
	tombstonePrefix = "f" // that takes experiments out
	labelsPrefix    = "l" // that labels experiments
)

// IsTombstone reports whether a name belongs to a commit that deletes experiments.
func IsTombstone(batch string) bool { return isPrefixed(batch, tombstonePrefix) }

// IsLabels reports whether a name belongs to a commit that labels experiments.
func IsLabels(batch string) bool { return isPrefixed(batch, labelsPrefix) }

// isPrefixed reports whether a name begins with a prefix, rather than with the same hex digit of an
// id.
func isPrefixed(batch, prefix string) bool {
	stem, _ := splitName(batch)
	return strings.HasPrefix(stem, prefix) && len(stem) == len(prefix)+len(noChecksum)
}

// newName returns a unique name.
func newName(prefix string) string { return fmt.Sprintf("%s%016x", prefix, rand.Uint64()) }

// numberedName returns the n-th name with this stem; the first is the stem itself.
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

// Draft is a commit that is written to disk, but does not count yet.
type Draft struct {
	store   string
	file    string // path in the writer's own folder
	content []byte
	commit  Commit
}

// WriteDraft writes a commit into the folder of its attempt.
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

// Commit commits a batch whose files are on disk. The error is ErrExists if the batch is committed
// already, ErrLost if files are gone. made reports whether the new commit counts, which it may even
// if there is an error.
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

// WriteCommit writes a commit and commits it, like Draft.Commit.
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

// complete returns an error if files of the commit are gone. If this machine was suspended for
// long, another one may have removed them, because the attempt seemed abandoned.
func (c *Commit) complete(store string) error {
	for _, f := range c.Files {
		if info, err := os.Lstat(filepath.Join(store, filepath.FromSlash(f.Path))); errors.Is(err, os.ErrNotExist) || err == nil && info.Size() != f.Bytes {
			return fmt.Errorf("commit %s: %s: %w", c.Batch, f.Path, ErrLost)
		}
	}
	return nil
}

// create renames a file; the error is os.ErrExist if the new name is taken.
func create(temp, path string) error {
	err := os.Link(temp, path)
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.ENOSYS) { // the file system has no links
		err = unix.Renameat2(unix.AT_FDCWD, temp, unix.AT_FDCWD, path, unix.RENAME_NOREPLACE)
	}
	if errors.Is(err, os.ErrExist) && sameFile(temp, path) {
		return nil // a network file system may report an error for a rename that it has done
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
