package dwarf

import (
	"fmt"
	"path/filepath"

	"stackmill/stages/loadobject/elf"
	"stackmill/stages/loadobject/symtab"
)

// maxNoted bounds the notes of one object.
const maxNoted = 20

func (a *adder) note(n symtab.Note) {
	if a.noted++; a.noted > maxNoted {
		a.lost = a.lost || n.Damage
		return
	}
	n.Text = valid(n.Text)
	a.table.Notes = append(a.table.Notes, n)
}

func (a *adder) remarkf(format string, args ...any) {
	a.note(symtab.Note{Offset: -1, Text: fmt.Sprintf(format, args...)})
}

// damagedf notes damage at an offset of a section of the debug information.
func (a *adder) damagedf(section string, off uint64, format string, args ...any) {
	n := symtab.Note{Offset: -1, Damage: true, Text: fmt.Sprintf(format, args...)}
	if s := a.source.Section(section); s != nil { // a compressed one is damaged somewhere
		n.Offset = int64(s.Offset)
		if !s.Compressed() {
			n.Offset += int64(off)
		}
	}
	a.note(a.in(a.source, n))
}

// fail notes an error about a file; nil: one that the error names.
func (a *adder) fail(f *elf.File, err error) { a.note(a.in(f, elf.NoteOf(err))) }

// in names the file in its note unless it is the load object: not its folder,
// since tables are shared by copies of an object.
func (a *adder) in(f *elf.File, n symtab.Note) symtab.Note {
	switch f {
	case a.object:
	case nil:
		n.Offset = -1
	default:
		n = n.In("debug file "+filepath.Base(f.Path), -1)
	}
	return n
}

// report adds the notes that sum up.
func (a *adder) report() {
	if n := a.noted - maxNoted; n > 0 {
		a.table.Notes = append(a.table.Notes, symtab.Note{Offset: -1, Damage: a.lost,
			Text: fmt.Sprintf("%d more parts of the debug information cannot be read", n)})
	}
	if n := len(a.split.missing); n > 0 {
		a.table.Notes = append(a.table.Notes, symtab.Note{Offset: -1, Text: valid(fmt.Sprintf(
			"%d files of split debug information were not found, the first is %s: their units go by the name of their first source file",
			n, a.split.missing[0]))})
	}
}
