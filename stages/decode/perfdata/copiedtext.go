package perfdata

import (
	"maps"
	"slices"

	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
)

// noteText notes a mapping of a file's code: the program's own file is the first that is mapped.
func (p *process) noteText(m decode.MapEvent) {
	if len(p.text) > 0 && (p.text[0].Path != m.Path || p.text[0].File != m.File) {
		return
	}
	for i := range p.text { // programs change the protection of their text part by part
		if x := &p.text[i]; x.Address+x.Size == m.Address && x.FileOffset+x.Size == m.FileOffset {
			x.Size += m.Size
			return
		}
	}
	p.text = append(p.text, m)
}

// copiesText reports whether anonymous memory replaces text of the program, and makes it a
// mapping of the program's file. Programs copy their text into huge pages. Code of a run-time
// compiler cannot be there while the program runs.
func (p *process) copiesText(m *decode.MapEvent) bool {
	for _, x := range p.text {
		if x.Address <= m.Address && m.Size <= x.Size && m.Address-x.Address <= x.Size-m.Size {
			m.Path, m.File, m.BuildID, m.FileOffset = x.Path, x.File, x.BuildID, x.FileOffset+(m.Address-x.Address)
			return true
		}
	}
	return false
}

// judgeCopies reports the programs whose copied text got inferred names.
func (t *timeline) judgeCopies() {
	for _, path := range slices.Sorted(maps.Keys(t.copied)) {
		t.r.rec.Problems.Add(diagnostic.Problem{Severity: diagnostic.Info, File: path, Offset: diagnostic.NoOffset, Count: t.copied[path], Reason: "copied-text",
			Message: "memory without a file took the place of the program's text: its names are inferred, as those of a copy of the text"})
	}
}
