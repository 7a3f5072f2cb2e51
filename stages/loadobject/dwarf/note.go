package dwarf

import (
	"fmt"
	"path/filepath"

	"stackmill/stages/loadobject/elf"
)

// maxNoted bounds the notes of one object.
const maxNoted = 20

// log collects what could not be read.
type log struct {
	notes []elf.Note
	noted int  // also those that were left out
	lost  bool // a note that was left out is about damage
}

// Note adds a note, unless there are too many.
func (l *log) Note(n elf.Note) {
	if l.noted++; l.noted > maxNoted {
		l.lost = l.lost || n.Damage
		return
	}
	n.Text = Valid(n.Text)
	l.notes = append(l.notes, n)
}

// Remarkf adds a note that is not about damage.
func (l *log) Remarkf(format string, args ...any) {
	l.Note(elf.Note{Offset: -1, Text: fmt.Sprintf(format, args...)})
}

// Damagedf notes damage at an offset of a section of the debug information.
func (d *Info) Damagedf(section string, off uint64, format string, args ...any) {
	n := elf.Note{Offset: -1, Damage: true, Text: fmt.Sprintf(format, args...)}
	if s := d.Source.Section(section); s != nil { // a compressed one is damaged somewhere
		n.Offset = int64(s.Offset)
		if !s.Compressed() {
			n.Offset += int64(off)
		}
	}
	d.Note(d.in(d.Source, n))
}

// Fail notes an error about a file; nil if the error names it.
func (d *Info) Fail(f *elf.File, err error) { d.Note(d.in(f, elf.NoteOf(err))) }

// in names the file in its note unless it is the load object: not its folder,
// since tables are shared by copies of an object.
func (d *Info) in(f *elf.File, n elf.Note) elf.Note {
	switch f {
	case d.Object:
	case nil:
		n.Offset = -1
	default:
		n = n.In("debug file "+filepath.Base(f.Path), -1)
	}
	return n
}

// Notes returns all notes, with a summary of those that were left out and of the
// missing files. It is called once.
func (d *Info) Notes() []elf.Note {
	if n := d.noted - maxNoted; n > 0 {
		d.notes = append(d.notes, elf.Note{Offset: -1, Damage: d.lost,
			Text: fmt.Sprintf("%d more parts of the debug information cannot be read", n)})
	}
	for _, text := range []string{d.missingSplit(), d.missingSupplement()} {
		if text != "" {
			d.notes = append(d.notes, elf.Note{Offset: -1, Reason: elf.MissingDebug, Text: Valid(text)})
		}
	}
	return d.notes
}
