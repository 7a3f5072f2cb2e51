package export

import (
	"fmt"
	"io"
	"os"

	"stackmill/internal/tempdir"
)

// spool keeps several texts that grow side by side. What does not fit in memory is in a
// temporary file that all texts share.
type spool struct {
	most  int // bytes in memory
	size  int
	texts []*spoolText // with bytes in memory
	file  *os.File
	end   int64 // of the file
}

// spoolText is one of a spool's texts: the parts in the file, then the bytes in memory.
type spoolText struct {
	parts  []filePart
	memory []byte
}

type filePart struct{ offset, size int64 }

// add appends to a text what grow appends to its bytes in memory.
func (s *spool) add(t *spoolText, grow func([]byte) []byte) error {
	before := len(t.memory)
	if before == 0 {
		s.texts = append(s.texts, t)
	}
	t.memory = grow(t.memory)
	if s.size += len(t.memory) - before; s.size <= s.most {
		return nil
	}
	if err := s.spill(); err != nil {
		return fmt.Errorf("temporary file: %w", err)
	}
	return nil
}

// spill moves what is in memory to the file.
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

// copy writes a text.
func (s *spool) copy(w io.Writer, t *spoolText) error {
	for _, p := range t.parts {
		if _, err := io.Copy(w, io.NewSectionReader(s.file, p.offset, p.size)); err != nil {
			return err
		}
	}
	_, err := w.Write(t.memory)
	return err
}

// close gives up the file.
func (s *spool) close() {
	if s.file != nil {
		s.file.Close()
	}
}
