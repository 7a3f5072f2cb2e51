package unwind

import (
	"sync"

	"stackmill/internal/memo"
	"stackmill/schema/diagnostic"
	"stackmill/stages/loadobject/cfi"
)

// Frames loads the call frame information of a load object's file, nil if it has none. It is
// safe for concurrent use.
type Frames interface {
	Frames(path string) (*cfi.Table, error)
}

// FrameTables holds the call frame information of one recording's load objects.
type FrameTables struct {
	frames   Frames
	problems *diagnostic.Log

	mu     sync.Mutex
	byFile map[string]*frameTable
}

// frameTable is the call frame information of a file, with its defects until these are
// reported.
type frameTable struct {
	table   *cfi.Table // nil if there is none
	count   int64      // of defects
	message string
}

// NewFrameTables returns the tables that frames loads. It adds their defects to problems.
func NewFrameTables(frames Frames, problems *diagnostic.Log) *FrameTables {
	return &FrameTables{frames: frames, problems: problems, byFile: map[string]*frameTable{}}
}

// of returns the table of a load object's file, which was recorded under path; nil if there
// is none.
func (t *FrameTables) of(file, path string) *cfi.Table {
	f := t.find(file)
	t.report(f, path)
	return f.table
}

// find returns the table of a file without reporting defects. It is safe for concurrent use.
func (t *FrameTables) find(file string) *frameTable {
	if file == "" {
		return &frameTable{}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return memo.Get(t.byFile, file, func() *frameTable { return newFrameTable(t.frames.Frames(file)) })
}

// newFrameTable returns a table that was read, with its defects or why it is unreadable.
func newFrameTable(table *cfi.Table, err error) *frameTable {
	f := &frameTable{table: table}
	switch {
	case err != nil:
		f.count, f.message = 1, err.Error()
	case table != nil && table.Bad > 0:
		f.count, f.message = int64(table.Bad), "entries of the call frame information cannot be read: stacks end at the code they describe"
	}
	return f
}

// report adds the defects of a table, once, to the problems of the load object at path.
func (t *FrameTables) report(f *frameTable, path string) {
	if f.count == 0 {
		return
	}
	t.problems.Add(diagnostic.Problem{Severity: diagnostic.Warning, File: path, Offset: diagnostic.NoOffset, Count: f.count,
		Reason: "bad-call-frame-information", Message: f.message})
	f.count = 0
}
