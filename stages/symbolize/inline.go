package symbolize

import "stackmill/stages/symbolize/symtab"

// Inlined returns the inline chain of a location, the outermost function first
// (S10); none for code that was not inlined.
func (p *Program) Inlined(l Location) []symtab.Frame {
	if t := p.Objects[l.Object].table; t != nil && l.Reason == "" {
		return t.Inlined(l.Offset)
	}
	return nil
}
