package cache

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"

	"stackmill/internal/cachetag"
	"stackmill/internal/safefile"
	"stackmill/stages/loadobject/cfi"
	"stackmill/stages/loadobject/symtab"
)

// A cache file, all numbers in little-endian order:
//
//	offset 0   "stackmill table "   16 bytes
//	       16  format version       4 bytes, formatVersion
//	       20  reserved             4 bytes, 0
//	       24  checksum             8 bytes, xxhash64 of the rest
//	       32  key, missing files, table: see encode.go
//
// Raise formatVersion when the encoding changes, or when the same object gives another table
// (names, sizes, lines).
const (
	magic         = "stackmill table "
	formatVersion = 33
	headSize      = 32
)

// maxFile bounds the size of a cache file that is read.
const maxFile = 2 << 30

// maxChecked is the maximum number of missing files that method appeared looks for.
const maxChecked = 16

// disk is the cache on disk, with one file per load object and kind of table. Several processes may
// use it, because files are renamed into place. Files that it lacks come from the shared cache.
type disk struct {
	dir       string
	shared    SharedCache // nil for none
	sweepOnce *sync.Once  // nil to keep the temporary files of killed processes
}

// SharedCache is a cache of many machines. Its contents are verified in the same way as files on disk.
type SharedCache interface {
	// Get returns the content stored under a name, nil if there is none.
	Get(name string) []byte
	// Put stores content under a name. It may fail.
	Put(name string, content []byte)
}

// sharedName returns a cache file's name in the shared cache. It contains the format version,
// because programs of several versions may use one shared cache.
func sharedName(path string) string {
	return fmt.Sprintf("v%d/%s", formatVersion, filepath.Base(path))
}

func (d disk) path(key string) string { return filepath.Join(d.dir, key+".table") }

// content returns the content of a cache file, nil if there is none.
func (d disk) content(path string) []byte {
	if d.dir == "" {
		return nil
	}
	f, info, err := safefile.Open(path, maxFile)
	if err != nil {
		return d.fromShared(path)
	}
	defer f.Close()
	b := make([]byte, info.Size())
	if _, err := io.ReadFull(f, b); err != nil {
		return nil
	}
	return b
}

// fromShared fetches a file from the shared cache and stores it locally.
func (d disk) fromShared(path string) []byte {
	if d.shared == nil {
		return nil
	}
	b := d.shared.Get(sharedName(path))
	if b != nil {
		d.writeLocal(path, b)
	}
	return b
}

// read returns the cached table and the files that were missing when it was built; nil if there is
// no valid cache file.
func (d disk) read(key string) (*symtab.Table, []string) {
	b := d.content(d.path(key))
	if b == nil {
		return nil, nil
	}
	got, missing, t, err := decode(b)
	if err != nil || got != key {
		return nil, nil
	}
	return t, missing
}

// appeared reports whether a file that was missing when a table was built exists now, at its path
// or in one of the folders: then the table must be rebuilt.
func appeared(missing, folders []string) bool {
	return slices.ContainsFunc(missing[:min(len(missing), maxChecked)], func(file string) bool {
		if isFile(file) {
			return true
		}
		return slices.ContainsFunc(folders, func(dir string) bool {
			return isFile(filepath.Join(dir, filepath.Base(file))) || isFile(filepath.Join(dir, file))
		})
	})
}

func (d disk) write(key string, missing []string, t *symtab.Table) {
	if d.dir != "" {
		d.store(d.path(key), encode(key, missing, t))
	}
}

// store writes a file, also to the shared cache.
func (d disk) store(path string, content []byte) {
	d.writeLocal(path, content)
	if d.shared != nil {
		d.shared.Put(sharedName(path), content)
	}
}

// writeLocal writes a file. It ignores errors: a cache that cannot be written only costs time.
func (d disk) writeLocal(path string, content []byte) {
	if os.MkdirAll(d.dir, 0o777) != nil {
		return
	}
	// os.CreateTemp would make the file readable by its owner only, whatever the umask says.
	f, err := os.OpenFile(filepath.Join(d.dir, fmt.Sprintf("%s%016x", partPrefix, rand.Uint64())), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return
	}
	if d.sweepOnce != nil {
		d.sweepOnce.Do(func() {
			sweep(d.dir, f)
			cachetag.Put(d.dir)
		})
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
}

// partPrefix begins the names of temporary files.
const partPrefix = ".table-"

// abandoned is the age at which a temporary file is removed: its process was killed, since writing
// takes seconds.
const abandoned = 24 * time.Hour

// sweep removes the temporary files of killed processes. It measures ages from the modification
// time of the new file f, because the file system may have another clock.
func sweep(dir string, f *os.File) {
	now, err := f.Stat()
	if err != nil {
		return
	}
	entries, _ := os.ReadDir(dir) // files that cannot be listed stay
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), partPrefix) {
			continue
		}
		if part, err := e.Info(); err == nil && now.ModTime().Sub(part.ModTime()) > abandoned {
			os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// framesVersion must be raised when the encoding changes, or when the same object gives another
// table.
const framesVersion = 5

// framesPath returns the path of the cache file for call frame information. Its body, after the
// header: framesVersion and the key's length (one byte each), the key, and the table in package
// cfi's encoding.
func (d disk) framesPath(key string) string { return filepath.Join(d.dir, key+".frames") }

// readFrames returns the cached call frame information, nil if there is no valid cache file.
func (d disk) readFrames(key string) *cfi.Table {
	body, ok := unseal(d.content(d.framesPath(key)))
	head := framesHead(key)
	if !ok || !bytes.HasPrefix(body, head) {
		return nil
	}
	t, err := cfi.Decode(body[len(head):])
	if err != nil {
		return nil
	}
	return t
}

func (d disk) writeFrames(key string, t *cfi.Table) {
	if d.dir != "" && len(key) < 256 {
		d.store(d.framesPath(key), seal(t.Append(framesHead(key))))
	}
}

func framesHead(key string) []byte { return append([]byte{framesVersion, byte(len(key))}, key...) }

// seal prepends the header to the body of a cache file.
func seal(body []byte) []byte {
	b := make([]byte, headSize, headSize+len(body))
	copy(b, magic)
	binary.LittleEndian.PutUint32(b[16:], formatVersion)
	binary.LittleEndian.PutUint64(b[24:], xxhash.Sum64(body))
	return append(b, body...)
}

// unseal checks the header and returns the body.
func unseal(b []byte) ([]byte, bool) {
	if len(b) < headSize || string(b[:16]) != magic || binary.LittleEndian.Uint32(b[16:]) != formatVersion {
		return nil, false
	}
	body := b[headSize:]
	return body, binary.LittleEndian.Uint64(b[24:]) == xxhash.Sum64(body)
}
