package cache

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"regexp"

	"stackmill/stages/infile"
	"stackmill/stages/loadobject/symtab"
)

// maxList bounds a list of symbols, which is held in memory; the kernel's has
// some 10 MB, those of large programs in Java 50.
const maxList = min(128<<20, infile.SymbolList)

// perfMap matches the names of lists that run-time compilers write.
var perfMap = regexp.MustCompile(`^perf-\d+\.map$`)

// readList reads a file that lists symbols as text, the kernel's or those of
// generated code, and returns what makes a table of it. Both are nil for other files.
func readList(path string) (text []byte, read func([]byte) *symtab.Table, err error) {
	f, info, err := infile.Open(path, infile.LoadObject)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	r := bufio.NewReader(io.LimitReader(f, maxList+1))
	head, err := r.Peek(64)
	if err != nil && err != io.EOF {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	switch {
	case perfMap.MatchString(filepath.Base(path)):
		read = symtab.ReadPerfMap
	case symtab.IsKernel(head):
		read = symtab.ReadKernel
	default:
		return nil, nil, nil
	}
	text = make([]byte, 0, min(info.Size(), maxList)+1) // /proc/kallsyms has size 0
	b := bytes.NewBuffer(text)
	if _, err = b.ReadFrom(r); err == nil && b.Len() > maxList {
		err = fmt.Errorf("%s: %w: more than %d bytes", path, infile.ErrTooLarge, maxList)
	}
	return b.Bytes(), read, err
}
