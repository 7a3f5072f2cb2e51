package export

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"

	"stackmill/internal/tempdir"
)

// maxFolded is the approximate maximum of bytes for stacks in memory.
const maxFolded = 64 << 20

// foldedSums has sums by stack. If they need more than max bytes, they are moved to sorted temporary files (runs).
type foldedSums struct {
	max, size int
	sums      map[string]*int64
	runs      []*os.File
}

// entrySize is how many bytes a stack takes in memory besides its text, approximately.
const entrySize = 64

func newFoldedSums(most int) *foldedSums { return &foldedSums{max: most, sums: map[string]*int64{}} }

// add adds a value to the sum of a stack.
func (s *foldedSums) add(stack []byte, v int64) error {
	if sum, known := s.sums[string(stack)]; known {
		return addChecked(sum, v, string(stack))
	}
	if s.size > s.max {
		if err := s.spill(); err != nil {
			return fmt.Errorf("temporary file: %w", err)
		}
	}
	s.size += len(stack) + entrySize
	s.sums[string(stack)] = &v
	return nil
}

// spill moves the sums in memory to a temporary file without a name.
func (s *foldedSums) spill() error {
	f, err := tempdir.File()
	if err != nil {
		return err
	}
	s.runs = append(s.runs, f)
	out := bufio.NewWriter(f)
	for _, stack := range slices.Sorted(maps.Keys(s.sums)) {
		if err := foldedLine(out, stack, *s.sums[stack]); err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	_, err = f.Seek(0, io.SeekStart)
	clear(s.sums)
	s.size = 0
	return err
}

func (s *foldedSums) close() {
	for _, f := range s.runs {
		f.Close()
	}
}

// each calls do for all stacks whose sum is not zero, in byte order.
func (s *foldedSums) each(do func(stack string, value int64) error) error {
	if len(s.runs) > 0 {
		if err := s.spill(); err != nil {
			return fmt.Errorf("temporary file: %w", err)
		}
		return s.merge(do)
	}
	for _, stack := range slices.Sorted(maps.Keys(s.sums)) {
		if v := *s.sums[stack]; v != 0 {
			if err := do(stack, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// merge merges the sorted files. There are few, and a stack is in each at most once.
func (s *foldedSums) merge(do func(stack string, value int64) error) error {
	var runs []*sortedRun
	for _, f := range s.runs {
		r := &sortedRun{from: bufio.NewReader(f)}
		if err := r.next(); err == nil {
			runs = append(runs, r)
		} else if err != io.EOF {
			return err
		}
	}
	for len(runs) > 0 {
		first := slices.MinFunc(runs, func(a, b *sortedRun) int { return bytes.Compare(a.stack, b.stack) })
		stack, sum := string(first.stack), int64(0)
		for i := len(runs) - 1; i >= 0; i-- {
			if string(runs[i].stack) != stack {
				continue
			}
			if err := addChecked(&sum, runs[i].value, stack); err != nil {
				return err
			}
			if err := runs[i].next(); err == io.EOF {
				runs = slices.Delete(runs, i, i+1)
			} else if err != nil {
				return err
			}
		}
		if sum != 0 {
			if err := do(stack, sum); err != nil {
				return err
			}
		}
	}
	return nil
}

// sortedRun reads a sorted file line by line.
type sortedRun struct {
	from  *bufio.Reader
	stack []byte
	value int64
}

// next moves to the next line, or returns io.EOF.
func (r *sortedRun) next() error {
	line, err := r.from.ReadBytes('\n')
	if err != nil {
		return err
	}
	at := bytes.LastIndexByte(line, ' ')
	if at < 0 {
		return errors.New("a temporary file was modified by another program")
	}
	r.stack = line[:at]
	r.value, err = strconv.ParseInt(string(line[at+1:len(line)-1]), 10, 64)
	return err
}
