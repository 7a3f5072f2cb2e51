package elf

import (
	"errors"
	"fmt"
)

// Note says what could not be used of a load object's files.
type Note struct {
	Offset int64 // in the load object's file, -1: none
	// Damage says that symbols or lines are lost because a file is cut or
	// corrupt. Else the note is a remark, such as of a debug file that does
	// not fit.
	Damage bool
	Text   string
	Reason string // of the problem, empty for the usual one
}

// Claimed is the reason of notes on a build-id that is another's.
const Claimed = "claimed-build-id"

// Doubtful reports whether the note says that the build-id is another's.
func (n Note) Doubtful() bool { return n.Reason == Claimed }

// DamageError says that a part of a file is cut or corrupt.
type DamageError struct {
	Offset int64 // in the file
	Err    error
}

func (e *DamageError) Error() string { return e.Err.Error() }
func (e *DamageError) Unwrap() error { return e.Err }

func damaged(off uint64, format string, args ...any) error {
	return &DamageError{int64(min(off, 1<<63-1)), fmt.Errorf(format, args...)}
}

// NoteOf returns the note that an error about a load object's own file makes.
func NoteOf(err error) Note {
	if d := (*DamageError)(nil); errors.As(err, &d) {
		return Note{Offset: d.Offset, Damage: true, Text: err.Error()}
	}
	return Note{Offset: -1, Text: err.Error()}
}

// In returns the note for a load object that uses what another file, named in
// the text, or a section at the offset holds.
func (n Note) In(file string, off int64) Note {
	return Note{Offset: off, Damage: n.Damage, Text: file + ": " + n.Text, Reason: n.Reason}
}
