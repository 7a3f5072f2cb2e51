package s3cache

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"

	"stackmill/internal/cachekey"
	"stackmill/internal/objstore"
	"stackmill/internal/safefile"
	"stackmill/schema/storedir"
)

// copyIndex is what this machine knows of the files of a mirror: of which object each is a copy,
// and what it has. Lines are added to its file, of which the last one of a name counts. All of
// it may be lost, or be wrong: then files are compared again, or brought again.
type copyIndex struct {
	store, file string
	boot        string // stamps of another run of the machine say nothing: what was written may be lost

	mu    sync.Mutex
	files map[string]copyRecord
	log   *os.File
}

// copyRecord says of a file what it has, and of which object it is a copy.
type copyRecord struct {
	stamp    uint64 // of the file when its content was last seen to be sum
	sum      string // xxhash64 of the content, as commits write it
	version  uint64 // of the object: its ETag and size
	modified int64  // when the object was last modified, s since 1970; 0 if that is not known
}

// openCopyIndex reads what is known.
func openCopyIndex(store, path string) (*copyIndex, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		boot = []byte(strconv.Itoa(os.Getpid())) // of this process alone
	}
	k := &copyIndex{store: store, file: path, boot: string(boot), files: map[string]copyRecord{}}
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	lines := 0
	for line := range bytes.Lines(text) {
		if name, c, ok := parseCopyRecord(string(line)); ok {
			k.files[name] = c
		}
		lines++
	}
	if lines > 2*len(k.files)+1000 {
		k.compact()
	}
	k.log, err = os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	return k, err
}

// compact writes the file anew, without what is not in the mirror any more. What other
// processes add meanwhile is lost.
func (k *copyIndex) compact() {
	var text strings.Builder
	for name, c := range k.files {
		if _, err := os.Lstat(filepath.Join(k.store, filepath.FromSlash(name))); err != nil {
			delete(k.files, name)
			continue
		}
		text.WriteString(c.line(name))
	}
	temp := fmt.Sprintf("%s-%d", k.file, os.Getpid())
	if os.WriteFile(temp, []byte(text.String()), 0o666) != nil || os.Rename(temp, k.file) != nil {
		_ = os.Remove(temp) // it stays long
	}
}

func (c copyRecord) line(name string) string {
	return fmt.Sprintf("%016x %s %016x %d %s\n", c.stamp, c.sum, c.version, c.modified, name)
}

func parseCopyRecord(line string) (name string, c copyRecord, ok bool) {
	line, ok = strings.CutSuffix(line, "\n")
	parts := strings.SplitN(line, " ", 5)
	if !ok || len(parts) != 5 {
		return "", c, false
	}
	var errs [3]error
	c.stamp, errs[0] = strconv.ParseUint(parts[0], 16, 64)
	c.version, errs[1] = strconv.ParseUint(parts[2], 16, 64)
	c.modified, errs[2] = strconv.ParseInt(parts[3], 10, 64)
	c.sum = parts[1]
	return parts[4], c, errs == [3]error{}
}

// versionOf identifies the content of an object.
func versionOf(o *objstore.Object) uint64 {
	return xxhash.Sum64String(cachekey.Of(o.Size, o.ETag))
}

// note notes of which object a file is a copy, and what it has.
func (k *copyIndex) note(name string, o *objstore.Object, sum string) {
	c := copyRecord{sum: sum}
	if !o.Modified.IsZero() {
		c.version, c.modified = versionOf(o), o.Modified.Unix()
	} else if o.ETag != "" {
		c.version = versionOf(o)
	}
	if info, err := os.Lstat(k.path(name)); err == nil {
		c.stamp = k.stampOf(info)
	}
	k.set(name, c)
}

func (k *copyIndex) set(name string, c copyRecord) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.files[name] == c {
		return
	}
	k.files[name] = c
	_, _ = k.log.WriteString(c.line(name)) // what is not known is compared again
}

func (k *copyIndex) get(name string) (copyRecord, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	c, ok := k.files[name]
	return c, ok
}

func (k *copyIndex) path(name string) string { return filepath.Join(k.store, filepath.FromSlash(name)) }

// stampOf is a hash of all that changes when somebody writes to a file.
func (k *copyIndex) stampOf(info fs.FileInfo) uint64 {
	return xxhash.Sum64String(cachekey.Of(k.boot, safefile.StampOf(info)))
}

// isCopyOf reports whether a file is a copy of an object as it is listed now. How old the object
// is may not be known of one that was put by this machine.
func (k *copyIndex) isCopyOf(name string, o *objstore.Object) bool {
	c, ok := k.get(name)
	if !ok || c.version != versionOf(o) || c.modified != 0 && c.modified != o.Modified.Unix() {
		return false
	}
	if c.modified == 0 {
		c.modified = o.Modified.Unix()
		k.set(name, c)
	}
	return true
}

// hasContent reports whether a file has a content. It is read unless it has not changed since somebody
// has seen that.
func (k *copyIndex) hasContent(name, sum string) bool {
	info, err := os.Lstat(k.path(name))
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	c, _ := k.get(name)
	stamp := k.stampOf(info)
	if c.stamp == stamp && c.sum == sum {
		return true
	}
	if !k.readsAs(name, sum) {
		return false
	}
	if c.sum != sum { // nothing is known of the object
		c = copyRecord{sum: sum}
	}
	c.stamp = stamp
	k.set(name, c)
	return true
}

// readsAs reports whether a file has a content, in any case by reading it.
func (k *copyIndex) readsAs(name, sum string) bool {
	f, _, err := safefile.Open(k.path(name), safefile.Recording)
	if err != nil {
		return false
	}
	defer f.Close()
	h := xxhash.New()
	_, err = io.Copy(h, f)
	return err == nil && storedir.Checksum(h.Sum64()) == sum
}

// useInterval is after which time it is noted again that a file was used.
const useInterval = 10 * time.Minute

// markUsed notes that a file is used now, for those who look for what was used longest ago.
func (k *copyIndex) markUsed(name string) {
	now := time.Now()
	info, err := os.Lstat(k.path(name))
	if err != nil || now.Sub(info.ModTime()).Abs() < useInterval || os.Chtimes(k.path(name), now, now) != nil {
		return
	}
	c, _ := k.get(name)
	if c.stamp != k.stampOf(info) { // it has just changed
		return
	}
	if info, err = os.Lstat(k.path(name)); err == nil {
		c.stamp = k.stampOf(info)
		k.set(name, c)
	}
}
