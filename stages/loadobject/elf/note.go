package elf

import (
	"errors"
	"fmt"
)

// Note says that something in a load object's files could not be used.
type Note struct {
	Offset int64 // in the load object's file, -1 without one
	// Damage says that symbols or lines are lost because a file is cut or
	// corrupt. Otherwise the note is a remark, as on a debug file that does not
	// fit.
	Damage bool
	Text   string
	Reason string // of the problem, empty for the usual one
}

// Claimed is the reason of notes on a build-id that another file has too.
const Claimed = "claimed-build-id"

// Unused is the reason of remarks on content that is not used; nothing is wrong with it.
const Unused = "unused-record"

// MissingDebug is the reason of remarks on debug information in files that are missing.
const MissingDebug = "missing-debug-information"

// Doubtful reports whether the note says that another file has the build-id too.
func (n Note) Doubtful() bool { return n.Reason == Claimed }

// DamageError says that part of a file is cut or corrupt.
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

// In returns the note for a load object that uses the content of another file,
// which the text names, or of a section at the offset.
func (n Note) In(file string, off int64) Note {
	return Note{Offset: off, Damage: n.Damage, Text: file + ": " + n.Text, Reason: n.Reason}
}
