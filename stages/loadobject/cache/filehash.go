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

// fileHash identifies the content of a load object's file.
type fileHash struct {
	// digest is part of the key of the file's table. It is a cryptographic hash: an attacker who
	// can choose a file's build-id and length could make it collide in a weaker hash with another
	// program's file, and so name that program's functions.
	digest [sha256.Size]byte
	short  uint64 // xxhash64, which names an object without a build-id; 0 if it has one
}

// hashCache hashes files and remembers the results, for large files also on disk.
type hashCache struct {
	dir   string   // empty: none on disk
	known sync.Map // fileHash by safefile.Stamp
}

// Only hashes of files from minRecordedSize on are stored on disk: hashing takes 1.5 ms for a
// megabyte, reading a record 0.1 ms. Inodes share recordFiles files, so that the folder does not
// grow with each experiment.
const (
	minRecordedSize = 1 << 18
	recordFiles     = 1 << 12
)

// of returns the hash of an open file.
func (c *hashCache) of(f *elf.File) fileHash {
	if x, ok := c.recall(f.Stamp); ok {
		return x
	}
	var x fileHash
	long, short := sha256.New(), xxhash.New()
	named := f.BuildID() != ""
	f.Chunks(func(chunk []byte) {
		if long.Write(chunk); !named {
			short.Write(chunk)
		}
	})
	if long.Sum(x.digest[:0]); !named {
		x.short = short.Sum64()
	}
	c.remember(f.Stamp, x)
	return x
}

// recall returns the remembered hash of a file, false if the file may have changed.
func (c *hashCache) recall(at safefile.Stamp) (fileHash, bool) {
	if !at.Settled() {
		return fileHash{}, false
	}
	if x, ok := c.known.Load(at); ok {
		return x.(fileHash), true
	}
	x, ok := c.read(at)
	if ok {
		c.known.Store(at, x)
	}
	return x, ok
}

func (c *hashCache) remember(at safefile.Stamp, x fileHash) {
	if at.Settled() {
		c.known.Store(at, x)
		c.write(at, x)
	}
}

// recordSize is the size of a hash on disk: a file's stamp, its digest and its short hash.
const recordSize = 5*8 + sha256.Size + 8

func (c *hashCache) path(at safefile.Stamp) string {
	n := xxhash.Sum64(fmt.Appendf(nil, "%d %d", at.Device, at.Inode)) % recordFiles
	return filepath.Join(c.dir, "contents", fmt.Sprintf("%03x", n))
}

func record(at safefile.Stamp, x fileHash) []byte {
	b := make([]byte, 0, recordSize)
	for _, v := range []uint64{at.Device, at.Inode, uint64(at.Size), uint64(at.Modified), uint64(at.Changed)} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return binary.LittleEndian.AppendUint64(append(b, x.digest[:]...), x.short)
}

func (c *hashCache) read(at safefile.Stamp) (x fileHash, ok bool) {
	if c.dir == "" || at.Size < minRecordedSize {
		return x, false
	}
	b, ok := unseal(disk{dir: c.dir}.content(c.path(at)))
	if !ok || len(b) != recordSize || string(b[:5*8]) != string(record(at, fileHash{})[:5*8]) {
		return x, false
	}
	copy(x.digest[:], b[5*8:])
	x.short = binary.LittleEndian.Uint64(b[5*8+sha256.Size:])
	return x, true
}

func (c *hashCache) write(at safefile.Stamp, x fileHash) {
	if c.dir == "" || at.Size < minRecordedSize || os.MkdirAll(filepath.Join(c.dir, "contents"), 0o777) != nil {
		return
	}
	disk{dir: c.dir}.store(c.path(at), seal(record(at, x)))
}
