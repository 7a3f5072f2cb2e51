package export

import (
	"bufio"
	"bytes"
	"container/heap"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"

	"stackmill/internal/tempdir"
)

// maxFolded bounds the approximate bytes of stacks in memory.
const maxFolded = 64 << 20

// foldedSums holds sums by stack. What does not fit in memory is in sorted temporary files.
type foldedSums struct {
	max, size int
	sums      map[string]*int64
	runs      []*os.File
}

// entrySize is the approximate memory of a stack besides its text.
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

// spill moves the sums in memory to a temporary file, which has no name.
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

// close closes the temporary files.
func (s *foldedSums) close() {
	for _, f := range s.runs {
		f.Close()
	}
}

// each calls do for the stacks with a nonzero sum, in the order of their bytes.
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

// merge merges the sorted files.
func (s *foldedSums) merge(do func(stack string, value int64) error) error {
	var runs runHeap
	for _, f := range s.runs {
		r := &sortedRun{from: bufio.NewReader(f)}
		if err := r.next(); err == nil {
			runs = append(runs, r)
		} else if err != io.EOF {
			return err
		}
	}
	heap.Init(&runs)
	for len(runs) > 0 {
		stack, sum := string(runs[0].stack), int64(0)
		for len(runs) > 0 && string(runs[0].stack) == stack {
			if err := addChecked(&sum, runs[0].value, stack); err != nil {
				return err
			}
			switch err := runs[0].next(); {
			case err == io.EOF:
				heap.Pop(&runs)
			case err != nil:
				return err
			default:
				heap.Fix(&runs, 0)
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

// sortedRun reads a sorted file; it is at one of the lines.
type sortedRun struct {
	from  *bufio.Reader
	stack []byte
	value int64
}

// next reads the next line, or returns io.EOF.
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

// runHeap is a heap of files by their current stack.
type runHeap []*sortedRun

func (r runHeap) Len() int           { return len(r) }
func (r runHeap) Less(i, j int) bool { return bytes.Compare(r[i].stack, r[j].stack) < 0 }
func (r runHeap) Swap(i, j int)      { r[i], r[j] = r[j], r[i] }

// Push implements heap.Interface.
func (r *runHeap) Push(x any) { *r = append(*r, x.(*sortedRun)) }

// Pop implements heap.Interface.
func (r *runHeap) Pop() any {
	last := (*r)[len(*r)-1]
	*r = (*r)[:len(*r)-1]
	return last
}
