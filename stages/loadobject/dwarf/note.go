package dwarf

import (
	"fmt"
	"path/filepath"

	"stackmill/stages/loadobject/elf"
)

// maxNotes bounds the notes of one object.
const maxNotes = 20

// noteLog collects notes on unreadable debug information.
type noteLog struct {
	notes         []elf.Note
	count         int  // including omitted ones
	damageOmitted bool // an omitted note is about damage
}

// Note adds a note, unless there are maxNotes already.
func (l *noteLog) Note(n elf.Note) {
	if l.count++; l.count > maxNotes {
		l.damageOmitted = l.damageOmitted || n.Damage
		return
	}
	n.Text = Valid(n.Text)
	l.notes = append(l.notes, n)
}

// Remarkf adds a remark: a note that reports no damage.
func (l *noteLog) Remarkf(format string, args ...any) {
	l.Note(elf.Note{Offset: -1, Text: fmt.Sprintf(format, args...)})
}

// Damagedf adds a note about damage at an offset of a section of the debug information.
func (d *Info) Damagedf(section string, off uint64, format string, args ...any) {
	n := elf.Note{Offset: -1, Damage: true, Text: fmt.Sprintf(format, args...)}
	if s := d.Source.Section(section); s != nil { // offsets in compressed content mean nothing in the file
		n.Offset = int64(s.Offset)
		if !s.Compressed() {
			n.Offset += int64(off)
		}
	}
	d.Note(d.inFile(d.Source, n))
}

// Fail adds a note about an error in file f; f is nil if the error's text names the file.
func (d *Info) Fail(f *elf.File, err error) { d.Note(d.inFile(f, elf.NoteOf(err))) }

// inFile adds the file's name to a note, unless the file is the load object. It omits the folder,
// because copies of an object in several folders share a table.
func (d *Info) inFile(f *elf.File, n elf.Note) elf.Note {
	switch f {
	case d.Object:
	case nil:
		n.Offset = -1
	default:
		n = n.In("debug file "+filepath.Base(f.Path), -1)
	}
	return n
}

// Notes returns all notes, and summaries of omitted notes and of missing files. It must be called
// only once.
func (d *Info) Notes() []elf.Note {
	if n := d.count - maxNotes; n > 0 {
		d.notes = append(d.notes, elf.Note{Offset: -1, Damage: d.damageOmitted,
			Text: fmt.Sprintf("%d more parts of the debug information cannot be read", n)})
	}
	for _, text := range []string{d.missingSplitText(), d.missingSupplementText()} {
		if text != "" {
			d.notes = append(d.notes, elf.Note{Offset: -1, Reason: elf.MissingDebug, Text: Valid(text)})
		}
	}
	return d.notes
}
