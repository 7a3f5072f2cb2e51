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

// copyIndex records the content of each cached file, and which version of its object it is a copy
// of. Its file is a log: the last line about a cached file counts. If lines are lost or wrong,
// files are compared or downloaded again.
type copyIndex struct {
	store, file string
	boot        string // identifies the running kernel: a crash may lose unwritten content, so stamps from before it do not count

	mu    sync.Mutex
	files map[string]copyRecord
	log   *os.File
}

// copyRecord describes a cached file's content, and the object of which it is a copy.
type copyRecord struct {
	stamp    uint64 // the file's stamp when its content was last verified
	sum      string // xxhash64 of the content, as commits write it
	version  uint64 // hash of the object's ETag and size
	modified int64  // when the object was modified, s since 1970; 0 if unknown
}

// openCopyIndex reads the index.
func openCopyIndex(store, path string) (*copyIndex, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		boot = []byte(strconv.Itoa(os.Getpid())) // valid for this process only
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

// compact rewrites the log without files that are no longer cached. It loses lines that other
// processes append at the same time, which does no harm.
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
		_ = os.Remove(temp) // the log stays long
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

// versionOf returns a hash that differs between versions of an object.
func versionOf(o *objstore.Object) uint64 {
	return xxhash.Sum64String(cachekey.Of(o.Size, o.ETag))
}

// note records the content of a file and the object that it is a copy of.
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
	_, _ = k.log.WriteString(c.line(name)) // without the line, the file is compared again
}

func (k *copyIndex) get(name string) (copyRecord, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	c, ok := k.files[name]
	return c, ok
}

func (k *copyIndex) path(name string) string { return filepath.Join(k.store, filepath.FromSlash(name)) }

// stampOf hashes the attributes that change when somebody writes to a file.
func (k *copyIndex) stampOf(info fs.FileInfo) uint64 {
	return xxhash.Sum64String(cachekey.Of(k.boot, safefile.StampOf(info)))
}

// isCopyOf reports whether a cached file is a copy of the listed object o. After an upload by this
// machine the object's date is unknown: the first matching list provides it.
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

// hasContent reports whether a file's content has the checksum sum. It reads the file only if that
// has changed since it was last verified.
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
	if c.sum != sum { // the record is of another content, so its object is unknown
		c = copyRecord{sum: sum}
	}
	c.stamp = stamp
	k.set(name, c)
	return true
}

// readsAs reads a file and reports whether its content has the checksum sum.
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

// useInterval is how often markUsed updates a file's time of last use.
const useInterval = 10 * time.Minute

// markUsed sets a file's modification time to now: evict takes that as the time of last use.
func (k *copyIndex) markUsed(name string) {
	now := time.Now()
	info, err := os.Lstat(k.path(name))
	if err != nil || now.Sub(info.ModTime()).Abs() < useInterval || os.Chtimes(k.path(name), now, now) != nil {
		return
	}
	c, _ := k.get(name)
	if c.stamp != k.stampOf(info) { // the file has just changed
		return
	}
	if info, err = os.Lstat(k.path(name)); err == nil {
		c.stamp = k.stampOf(info)
		k.set(name, c)
	}
}
