// Package storedir is a store's directory: the folders and names of its files, the
// commits that say which files count, and how to put right what killed programs
// left. The side that writes stores and the side that reads them share it.
//
// A store is a directory:
//
//	tables/<table>/<attempt>.parquet   immutable
//	commits/<batch>.json               names the batch's files; immutable
//	staging/<attempt>.lock, /          lock and files of a batch that is being written
//
// or such a directory that is the mirror of a store elsewhere: see Remote.
//
// A batch holds one large experiment or many small ones. It exists when its commit file
// does: this is written under a temporary name, flushed, and linked to its own name
// after all its tables are on disk, which succeeds for one process only. An attempt
// to write a batch has the batch's name, plus a random part if another attempt has
// that name, so that no attempt touches another's files.
//
// No lock decides what counts. An experiment that is ingested again has entries in
// several commits: the one of the highest generation counts, and of equal ones, which
// writers make that know nothing of each other, the one that heeds more labels, then that
// of the first batch by name. Commits without files take experiments out of the store, all
// of them or all but their sums, and label them.
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
	"sync/atomic"
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

// VersionKey is the key of the store format version in a Parquet footer.
const VersionKey = "stackmill.store_version"

// Commit describes one batch.
type Commit struct {
	Batch        string    `json:"batch"`
	StoreVersion string    `json:"store_version"`
	Ingested     time.Time `json:"ingested"`
	Program      string    `json:"program,omitempty"` // version of the program that wrote it
	// Experiments are those whose rows are in the files, in the rows' order; without
	// files, those that are taken out.
	Experiments  []Entry       `json:"experiments"`
	Labels       *Labels       `json:"labels,omitempty"`   // given to experiments, of which this commit has none
	LabelChanges []LabelChange `json:"given,omitempty"`    // labels of the commits that it replaces
	Replaces     []string      `json:"replaces,omitempty"` // batches that are no longer read
	Files        []File        `json:"files"`
	// Checksum is the xxhash64 of the commit file with zeros in place of the checksum.
	Checksum string `json:"checksum"`
}

// Entry is what a commit says of one experiment.
type Entry struct {
	ExperimentID string   `json:"experiment_id"`
	Generation   int      `json:"generation"`         // from 1: how often it was put in or taken out
	Experiment   string   `json:"experiment"`         // base name of the recording
	Path         string   `json:"path"`               // absolute path of the recording
	Status       string   `json:"status"`             // as experiments.status, or one of those below
	Was          string   `json:"was,omitempty"`      // the status before it was Forgotten or a Summary
	Recorded     string   `json:"recorded,omitempty"` // what was recorded, where and when, as a hash; empty if unknown
	Unclosed     bool     `json:"unclosed,omitempty"` // the collector had not finished it
	Instead      []string `json:"instead,omitempty"`  // the ids of experiments that it takes the place of
	// Ingested is when it was put in, if that was not when its commit was made.
	Ingested time.Time `json:"ingested,omitzero"`
	// Labels are its own and, before these, those of Instead. Labelled names the commits
	// that gave or took labels of it and are heeded in that.
	Labels       map[string]string `json:"labels,omitempty"`
	LabelCommits []string          `json:"labelled,omitempty"`
	Samples      int64             `json:"samples"`
	Objects      int64             `json:"objects"` // load objects whose files were found
	// If the recording lost data: the files that were looked for outside of it, a hash of
	// their state and of all else that may change the result, and one of the result.
	Looked  []string `json:"looked,omitempty"`
	State   string   `json:"state,omitempty"`
	Outcome string   `json:"outcome,omitempty"`
}

// The statuses of experiments that were taken out.
const (
	// Reingest is for one whose files are damaged: its recording must be ingested again.
	Reingest = "again"
	// Forgotten is for one that nobody wants any more.
	Forgotten = "forgotten"
	// Summary is for one of which only the sums of its functions, and what describes it,
	// is wanted.
	Summary = "summary"
)

// Recording is the status of what was recorded, whatever became of it in the store.
func (e *Entry) Recording() string { return cmp.Or(e.Was, e.Status) }

// finished reports whether the collector finished the recording and nothing of it was lost.
func (e *Entry) finished() bool { return e.Recording() == "complete" }

// IngestedAt returns when an experiment was put in, by the time of its commit.
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
	// Footer is the xxhash64 of what Parquet's readers read first, at the end of the file: the pages
	// have checksums that engines compare, and this has none. It is missing in older commits.
	Footer string `json:"footer,omitempty"`
}

var (
	// ErrNoStore says that a directory is not a store.
	ErrNoStore = errors.New("no store")
	// ErrExists says that another attempt has committed the batch.
	ErrExists = errors.New("the batch is in the store already")
	// ErrLost says that files of a batch are gone before it was committed.
	ErrLost = errors.New("the file was removed or changed before it was committed (run the same command again)")
	// ErrDamaged says that a commit file has changed since it was written.
	ErrDamaged = errors.New("damaged")
)

// noChecksum stands in a commit file while its checksum is computed.
const noChecksum = "0000000000000000"

// Encode returns the content of the commit's file, with its checksum.
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

// Decode reads the content of a batch's commit file. The error wraps ErrDamaged
// unless the commit is of another version of the store, which this program cannot
// judge. For a damaged one, the commit has what can be read.
func Decode(batch string, data []byte) (c Commit, err error) {
	unmarshal := json.Unmarshal
	if checksumMatches(data) && decodedBytes.Add(int64(len(data))) > fastDecoderAfter {
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
	if c.StoreVersion == schema.StoreVersion || c.StoreVersion == schema.OlderVersion { // others are not read
		if err := c.verify(); err != nil {
			return Commit{Batch: c.Batch, StoreVersion: c.StoreVersion, Ingested: c.Ingested}, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
	}
	return c, nil
}

// decodedBytes counts bytes that could be decoded fast.
var decodedBytes atomic.Int64

// fastDecoderAfter is from how many bytes on the fast decoder is worth its start: it makes a table of
// 2 MB, in the time of 30 kB of the usual one if the memory is at hand, and of far more if not.
const fastDecoderAfter = 64 << 10

// checksumMatches reports whether a text has the checksum that it says last, as Encode writes it. What
// Encode has written may be read by a decoder that takes a third of the time: opening a store
// of ten thousand experiments is mostly that.
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

// IsIntact reports whether a text is the commit file of a batch, as it was written.
func IsIntact(batch string, data []byte) bool {
	if bytes.HasPrefix(data, commitHeader(batch)) && checksumMatches(data) {
		return true
	}
	_, err := Decode(batch, data)
	return err == nil
}

// Checksum writes an xxhash64 as commits do.
func Checksum(sum uint64) string { return fmt.Sprintf("%016x", sum) }

// BatchName is the name of a batch of experiments: for one of them its id, followed by
// its generation if that is not the first; for several a hash of theirs.
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

// These begin the names of commits that are not of one experiment.
const (
	manyPrefix      = "b" // of several
	tombstonePrefix = "f" // that takes experiments out
	labelsPrefix    = "l" // that labels experiments
)

// IsTombstone reports whether a name is that of a commit that takes experiments out.
func IsTombstone(batch string) bool { return isPrefixed(batch, tombstonePrefix) }

// IsLabels reports whether a name is that of a commit that labels experiments.
func IsLabels(batch string) bool { return isPrefixed(batch, labelsPrefix) }

// isPrefixed tells the prefix of a name from the first digit of an experiment's id.
func isPrefixed(batch, prefix string) bool {
	stem, _ := splitName(batch)
	return strings.HasPrefix(stem, prefix) && len(stem) == len(prefix)+len(noChecksum)
}

// newName is a name that no other commit has.
func newName(prefix string) string { return fmt.Sprintf("%s%016x", prefix, rand.Uint64()) }

// numberedName is the n-th name of a stem, from 1.
func numberedName(stem string, n int) string {
	if n == 1 {
		return stem
	}
	return stem + "." + strconv.Itoa(n)
}

// splitName is the inverse of numbered.
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

// ReadCommit returns the commit of one batch; the error is fs.ErrNotExist if there is
// none.
func ReadCommit(store, batch string) (Commit, error) {
	d := readCommitFile(store, batch).parse()
	return d.Commit, d.Err
}

// Draft is a commit that is on disk and does not count yet.
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
// does, ErrLost if its files are gone. made says that the commit counts, whatever the error.
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

// WriteCommit writes a commit and makes its batch exist, as Draft.Commit does.
func WriteCommit(store string, attempt *Scratch, c Commit) (made bool, err error) {
	d, err := WriteDraft(store, attempt, c)
	if err != nil {
		return false, err
	}
	return d.Commit()
}

// PathOf returns the path of a table's file, empty if the batch has no rows of it.
func (c *Commit) PathOf(t *schema.Table) string {
	for _, f := range c.Files {
		if f.Table == t.Name {
			return f.Path
		}
	}
	return ""
}

// complete returns an error if files of the commit are gone: another machine may have taken
// the attempt for abandoned when this one had stood still for long.
func (c *Commit) complete(store string) error {
	for _, f := range c.Files {
		if info, err := os.Lstat(filepath.Join(store, filepath.FromSlash(f.Path))); errors.Is(err, os.ErrNotExist) || err == nil && info.Size() != f.Bytes {
			return fmt.Errorf("commit %s: %s: %w", c.Batch, f.Path, ErrLost)
		}
	}
	return nil
}

// create gives a file another name, unless there is a file of that name.
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
