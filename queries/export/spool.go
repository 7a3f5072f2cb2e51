package export

import (
	"fmt"
	"io"
	"os"

	"stackmill/internal/tempdir"
)

// spool holds several texts that grow at the same time. If they need more than max bytes, they are moved to a
// temporary file that they share.
type spool struct {
	max   int // limit of size
	size  int
	texts []*spoolText // the texts that have bytes in memory
	file  *os.File
	end   int64 // size of the file
}

// spoolText is a text of a spool. It consists of parts in the file and, after them, bytes in memory.
type spoolText struct {
	parts  []filePart
	memory []byte
}

type filePart struct{ offset, size int64 }

// add appends to a text: grow appends to the bytes that it has in memory.
func (s *spool) add(t *spoolText, grow func([]byte) []byte) error {
	before := len(t.memory)
	if before == 0 {
		s.texts = append(s.texts, t)
	}
	t.memory = grow(t.memory)
	if s.size += len(t.memory) - before; s.size <= s.max {
		return nil
	}
	if err := s.spill(); err != nil {
		return fmt.Errorf("temporary file: %w", err)
	}
	return nil
}

// spill moves the texts in memory to the file.
func (s *spool) spill() (err error) {
	if s.file == nil {
		if s.file, err = tempdir.File(); err != nil {
			return err
		}
	}
	for _, t := range s.texts {
		n, err := s.file.Write(t.memory)
		if err != nil {
			return err
		}
		t.parts = append(t.parts, filePart{s.end, int64(n)})
		t.memory = nil
		s.end += int64(n)
	}
	s.texts, s.size = s.texts[:0], 0
	return nil
}

func (s *spool) copy(w io.Writer, t *spoolText) error {
	for _, p := range t.parts {
		if _, err := io.Copy(w, io.NewSectionReader(s.file, p.offset, p.size)); err != nil {
			return err
		}
	}
	_, err := w.Write(t.memory)
	return err
}

// close closes the temporary file, which has no name.
func (s *spool) close() {
	if s.file != nil {
		s.file.Close()
	}
}
