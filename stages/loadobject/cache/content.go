package cache

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/cespare/xxhash/v2"

	"stackmill/internal/safefile"
	"stackmill/stages/loadobject/elf"
)

// content identifies the content of a load object's file.
type content struct {
	// digest names the file's table. A build-id and a length would not do: whoever
	// makes a file chooses both, and could name the functions of all programs with
	// the same two. Nor would a hash that is not cryptographic.
	digest [sha256.Size]byte
	short  uint64 // xxhash64, which names an object without a build-id; 0 if it has one
}

// contents reads files for their contents and remembers them, those of large
// files on disk too. The zero value remembers nothing.
type contents struct {
	dir string // empty: none on disk

	mu    sync.Mutex
	known map[safefile.Stamp]content
}

// Bounds of what is remembered on disk. A hash takes a millisecond and a half for a
// megabyte, a record a tenth of one. There is a file for each of so many places,
// which inodes share: a folder that grows with each experiment would be worse.
const (
	worthRemembering = 1 << 18
	contentPlaces    = 1 << 12
)

// of returns the content of an open file.
func (c *contents) of(f *elf.File) content {
	if x, ok := c.recall(f.Stamp); ok {
		return x
	}
	var x content
	long, short := sha256.New(), xxhash.New()
	named := f.BuildID() != ""
	f.Parts(func(part []byte) {
		if long.Write(part); !named {
			short.Write(part)
		}
	})
	if long.Sum(x.digest[:0]); !named {
		x.short = short.Sum64()
	}
	c.remember(f.Stamp, x)
	return x
}

// recall returns what is remembered of a file, false if it may be another.
func (c *contents) recall(at safefile.Stamp) (content, bool) {
	if c.known == nil || !at.Settled() {
		return content{}, false
	}
	c.mu.Lock()
	x, ok := c.known[at]
	c.mu.Unlock()
	if !ok {
		if x, ok = c.read(at); ok {
			c.keep(at, x)
		}
	}
	return x, ok
}

// remember remembers the content of a file.
func (c *contents) remember(at safefile.Stamp, x content) {
	if c.known != nil && at.Settled() {
		c.keep(at, x)
		c.write(at, x)
	}
}

func (c *contents) keep(at safefile.Stamp, x content) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known[at] = x
}

// A record on disk is a file with the same head as a table's, followed by the
// stamp, the digest and the short hash.
const recordSize = 5*8 + sha256.Size + 8

func (c *contents) path(at safefile.Stamp) string {
	place := xxhash.Sum64(fmt.Appendf(nil, "%d %d", at.Device, at.Inode)) % contentPlaces
	return filepath.Join(c.dir, "contents", fmt.Sprintf("%03x", place))
}

func record(at safefile.Stamp, x content) []byte {
	b := make([]byte, 0, recordSize)
	for _, v := range []uint64{at.Device, at.Inode, uint64(at.Size), uint64(at.Modified), uint64(at.Changed)} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return binary.LittleEndian.AppendUint64(append(b, x.digest[:]...), x.short)
}

func (c *contents) read(at safefile.Stamp) (x content, ok bool) {
	if c.dir == "" || at.Size < worthRemembering {
		return x, false
	}
	b, ok := unseal(disk{dir: c.dir}.content(c.path(at)))
	if !ok || len(b) != recordSize || string(b[:5*8]) != string(record(at, content{})[:5*8]) {
		return x, false
	}
	copy(x.digest[:], b[5*8:])
	x.short = binary.LittleEndian.Uint64(b[5*8+sha256.Size:])
	return x, true
}

func (c *contents) write(at safefile.Stamp, x content) {
	if c.dir == "" || at.Size < worthRemembering || os.MkdirAll(filepath.Join(c.dir, "contents"), 0o777) != nil {
		return
	}
	disk{dir: c.dir}.store(c.path(at), seal(record(at, x)))
}
