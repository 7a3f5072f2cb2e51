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

// maxFolded is about how many bytes of stacks are kept in memory.
const maxFolded = 64 << 20

// foldedSums are sums by stack. Those that do not fit in memory are in files, each sorted.
type foldedSums struct {
	most, size int
	sums       map[string]*int64
	runs       []*os.File
}

// entrySize is about what a stack takes in memory besides its text.
const entrySize = 64

func newFoldedSums(most int) *foldedSums { return &foldedSums{most: most, sums: map[string]*int64{}} }

// add adds a value of a stack.
func (s *foldedSums) add(stack []byte, v int64) error {
	if sum, known := s.sums[string(stack)]; known {
		return plus(sum, v, string(stack))
	}
	if s.size > s.most {
		if err := s.spill(); err != nil {
			return fmt.Errorf("temporary file: %w", err)
		}
	}
	s.size += len(stack) + entrySize
	s.sums[string(stack)] = &v
	return nil
}

// spill moves what is in memory to a file that has no name.
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

// close gives up the files.
func (s *foldedSums) close() {
	for _, f := range s.runs {
		f.Close()
	}
}

// each calls a function for the stacks with a value, in the order of their bytes.
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

// merge reads the files together.
func (s *foldedSums) merge(do func(stack string, value int64) error) error {
	var runs foldedRuns
	for _, f := range s.runs {
		r := &foldedRun{from: bufio.NewReader(f)}
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
			if err := plus(&sum, runs[0].value, stack); err != nil {
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

// foldedRun is a file that is read, at one of its lines.
type foldedRun struct {
	from  *bufio.Reader
	stack []byte
	value int64
}

// next reads the next line; io.EOF after the last.
func (r *foldedRun) next() error {
	line, err := r.from.ReadBytes('\n')
	if err != nil {
		return err
	}
	at := bytes.LastIndexByte(line, ' ')
	if at < 0 {
		return errors.New("a temporary file was changed")
	}
	r.stack = line[:at]
	r.value, err = strconv.ParseInt(string(line[at+1:len(line)-1]), 10, 64)
	return err
}

// foldedRuns are files, that with the first stack foremost.
type foldedRuns []*foldedRun

func (r foldedRuns) Len() int           { return len(r) }
func (r foldedRuns) Less(i, j int) bool { return bytes.Compare(r[i].stack, r[j].stack) < 0 }
func (r foldedRuns) Swap(i, j int)      { r[i], r[j] = r[j], r[i] }

// Push implements heap.Interface.
func (r *foldedRuns) Push(x any) { *r = append(*r, x.(*foldedRun)) }

// Pop implements heap.Interface.
func (r *foldedRuns) Pop() any {
	last := (*r)[len(*r)-1]
	*r = (*r)[:len(*r)-1]
	return last
}
