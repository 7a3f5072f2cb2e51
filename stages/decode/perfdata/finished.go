package perfdata

import (
	"io"
	"os"
	"path/filepath"

	"stackmill/internal/safefile"
)

// Finished reports whether the header says where the data ends, which perf writes last, and the
// file is that long (perf-data 1.1, 3.2). Recordings through a pipe never say so.
func (d *Decoder) Finished(path string) bool {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, mainFile)
	}
	f, info, err := safefile.Open(path, safefile.Recording)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, headerSize)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.ErrUnexpectedEOF {
		return false
	}
	h, err := readHeader(head[:n])
	if err != nil || h.pipe || h.data.size == 0 {
		return false
	}
	// A table with the section of each feature follows the data.
	size := uint64(info.Size())
	table := section{h.data.offset + h.data.size, uint64(16 * len(h.features))}
	if !table.lies(size) || table.offset < h.data.offset {
		return false
	}
	entries := make([]byte, table.size)
	if _, err := f.ReadAt(entries, int64(table.offset)); err != nil && len(entries) > 0 {
		return false
	}
	for c := cursorOf(entries, h.big); len(c.Rest) >= 16; {
		if s := (section{c.U64(), c.U64()}); !s.lies(size) {
			return false
		}
	}
	return true
}

// lies reports whether a section lies in a file of that size.
func (s section) lies(size uint64) bool { return s.offset <= size && s.size <= size-s.offset }
