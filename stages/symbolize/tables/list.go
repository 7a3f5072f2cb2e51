package tables

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"regexp"

	"stackmill/stages/symbolize/symtab"
)

// maxList bounds a list of symbols; the kernel's has some 10 MB.
const maxList = 256 << 20

// perfMap is how the lists of run-time compilers are named.
var perfMap = regexp.MustCompile(`^perf-\d+\.map$`)

// readList reads a file that lists symbols as text, and says what makes a table
// of it: the kernel's, or those of generated code. It is nil for other files.
func readList(path string) (text []byte, read func([]byte) *symtab.Table) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil
	}
	defer f.Close()
	r := bufio.NewReader(io.LimitReader(f, maxList))
	head, _ := r.Peek(64)
	switch {
	case perfMap.MatchString(filepath.Base(path)):
		read = symtab.ReadPerfMap
	case symtab.IsKernel(head):
		read = symtab.ReadKernel
	default:
		return nil, nil
	}
	if text, err = io.ReadAll(r); err != nil {
		return nil, nil
	}
	return text, read
}
