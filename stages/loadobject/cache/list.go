package cache

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/cespare/xxhash/v2"

	"stackmill/internal/lazyregexp"
	"stackmill/internal/safefile"
	"stackmill/stages/loadobject/symtab"
)

// maxList bounds the size of a list of symbols, which is read into memory; the kernel's list has
// some 10 MB, lists of large Java programs 50.
const maxList = min(128<<20, safefile.SymbolList)

// perfMap matches the file names of lists that run-time compilers write.
var perfMap = lazyregexp.New(`^perf-\d+\.map$`)

// symbolList is a file that lists symbols: of the kernel, of code generated at run time, or of a
// load object that Studio archived.
type symbolList struct {
	path    string
	stamp   safefile.Stamp
	hash    fileHash
	read    func([]byte) *symtab.Draft
	text    []byte // read on first use if the cache knew the hash
	archive bool   // Studio's archive, which contains an inode of the recorded host
}

// openList opens and hashes a list of symbols; it returns nil for other files.
func openList(c *hashCache, path string) (*symbolList, error) {
	f, info, err := safefile.Open(path, safefile.LoadObject)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, 64)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	l := &symbolList{path: path, stamp: safefile.StampOf(info)}
	switch {
	case perfMap().MatchString(filepath.Base(path)):
		l.read = symtab.ReadPerfMap
	case symtab.IsKernel(head[:n]):
		l.read = symtab.ReadKernel
	case symtab.IsArchive(head[:n]):
		l.read, l.archive = symtab.ReadArchive, true
	default:
		return nil, nil
	}
	var known bool
	if l.hash, known = c.recall(l.stamp); known {
		return l, nil
	}
	b := bytes.NewBuffer(make([]byte, 0, min(info.Size(), maxList)+bytes.MinRead)) // /proc/kallsyms has size 0
	b.Write(head[:n])
	if _, err = b.ReadFrom(io.LimitReader(f, maxList+1-int64(n))); err == nil && b.Len() > maxList {
		err = fmt.Errorf("%w: more than %d bytes", safefile.ErrTooLarge, maxList)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	l.text = b.Bytes()
	l.identify(c)
	return l, nil
}

// identify hashes the text, without the recorded host's inode. It remembers the hash only if the
// stamp has the text's size: for the kernel's files, the stamp's size is always 0.
func (l *symbolList) identify(c *hashCache) {
	text := l.text
	if l.archive && len(text) >= symtab.ArchiveInodeEnd {
		text = slices.Clone(text)
		clear(text[symtab.ArchiveInode:symtab.ArchiveInodeEnd])
	}
	l.hash = fileHash{sha256.Sum256(text), xxhash.Sum64(text)}
	if l.stamp.Size == int64(len(l.text)) {
		c.remember(l.stamp, l.hash)
	}
}

func (l *symbolList) table(c *hashCache) (*symtab.Table, error) {
	if l.text == nil {
		expected := l.hash
		var err error
		if l.text, err = safefile.Read(l.path, maxList); err != nil {
			return nil, err
		}
		if l.identify(c); l.hash != expected {
			return nil, fmt.Errorf("%s: the file changed after it was opened", l.path)
		}
	}
	return l.read(l.text).Finish(), nil
}
