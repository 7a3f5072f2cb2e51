package unwind

import (
	"stackmill/problem"
	"stackmill/stages/loadobject/cfi"
)

// Frames gives the call frame information of a load object's file, nil when it
// has none.
type Frames interface {
	Frames(path string) (*cfi.Table, error)
}

// FrameTables are the call frame information of one recording's load objects.
// They are not safe for concurrent use.
type FrameTables struct {
	frames   Frames
	problems *problem.Log
	byFile   map[string]*cfi.Table
}

// NewFrameTables returns the tables that frames gives. What of them cannot be
// used is written to problems.
func NewFrameTables(frames Frames, problems *problem.Log) *FrameTables {
	return &FrameTables{frames, problems, map[string]*cfi.Table{}}
}

// of returns the table of a load object in a file, which was recorded under
// path; nil if there is none.
func (t *FrameTables) of(file, path string) *cfi.Table {
	table, known := t.byFile[file]
	if known || file == "" {
		return table
	}
	table, err := t.frames.Frames(file)
	switch {
	case err != nil:
		t.problem(path, 1, err.Error())
	case table != nil && table.Bad > 0:
		t.problem(path, int64(table.Bad), "entries of the call frame information cannot be read: stacks end at the code they describe")
	}
	t.byFile[file] = table
	return table
}

func (t *FrameTables) problem(file string, count int64, message string) {
	t.problems.Add(problem.Problem{Severity: problem.Warning, File: file, Offset: problem.NoOffset, Count: count,
		Reason: "bad-call-frame-information", Message: message})
}
