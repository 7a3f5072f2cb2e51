package elf

import (
	"errors"
	"fmt"
)

// Note is a diagnostic about a load object's files.
type Note struct {
	Offset int64 // in the load object's file, -1 without one
	// Damage means that symbols or lines are lost because a file is truncated or corrupt. Otherwise
	// the note is a remark, for example about a debug file that does not match.
	Damage bool
	Text   string
	Reason string // the diagnostic's reason, empty for the default
}

// Reasons of notes.
const (
	ClaimedBuildID = "claimed-build-id"          // another file has the same build-id
	UnusedRecord   = "unused-record"             // valid content that is not used
	MissingDebug   = "missing-debug-information" // debug information is in files that are missing
)

// Doubtful reports whether the note says that another file has the same build-id.
func (n Note) Doubtful() bool { return n.Reason == ClaimedBuildID }

// DamageError means that part of a file is missing or corrupt.
type DamageError struct {
	Offset int64 // in the file
	Err    error
}

func (e *DamageError) Error() string { return e.Err.Error() }
func (e *DamageError) Unwrap() error { return e.Err }

func damaged(off uint64, format string, args ...any) error {
	return &DamageError{int64(min(off, 1<<63-1)), fmt.Errorf(format, args...)}
}

// NoteOf returns the note for an error about a load object's own file.
func NoteOf(err error) Note {
	if d := (*DamageError)(nil); errors.As(err, &d) {
		return Note{Offset: d.Offset, Damage: true, Text: err.Error()}
	}
	return Note{Offset: -1, Text: err.Error()}
}

// In turns a note about another file, or about a section's content, into one about the load object:
// it puts the prefix file before the text, and replaces the offset by off (the section's, or -1).
func (n Note) In(file string, off int64) Note {
	return Note{Offset: off, Damage: n.Damage, Text: file + ": " + n.Text, Reason: n.Reason}
}
