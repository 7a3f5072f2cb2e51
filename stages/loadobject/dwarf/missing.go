package dwarf

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"stackmill/stages/loadobject/elf"
)

// lack is a reason for which the other halves of units are missing.
type lack struct {
	why   string // what is wrong with the files
	first string // one of them
	files map[string]bool
}

// lacks notes that the other half of a unit is missing.
func (p *split) lacks(file string, why error) {
	p.lacking++
	text := "cannot be read: " + plain(why)
	switch {
	case errors.Is(why, fs.ErrNotExist):
		text = "not found"
	case errors.Is(why, elf.ErrOtherBuild):
		text = "of another build"
	}
	for i := range p.reasons {
		if p.reasons[i].why == text {
			p.reasons[i].files[file] = true
			return
		}
	}
	p.reasons = append(p.reasons, lack{text, file, map[string]bool{file: true}})
}

// plain is an error without the path, which the text has.
func plain(err error) string {
	if at := (*fs.PathError)(nil); errors.As(err, &at) {
		return at.Err.Error()
	}
	return err.Error()
}

// missingSplit says which other halves of units are missing, empty if none is.
func (d *Info) missingSplit() string {
	p := &d.split
	if p.lacking == 0 {
		return ""
	}
	var list []string
	if p.pack != nil {
		list = append(list, filepath.Base(p.dwp.Path)+" does not have it")
	}
	for i, r := range p.reasons {
		if i == maxReasons {
			list = append(list, fmt.Sprintf("%d more reasons", len(p.reasons)-i))
			break
		}
		switch n := len(r.files) - 1; n {
		case 0:
			list = append(list, r.first+" ("+r.why+")")
		case 1:
			list = append(list, r.first+" and 1 more file ("+r.why+")")
		default:
			list = append(list, fmt.Sprintf("%s and %d more files (%s)", r.first, n, r.why))
		}
	}
	return fmt.Sprintf("the split debug information of %s is missing: %s. Inlined functions, types, variables and languages are unknown there; function names and lines are known",
		units(p.lacking), strings.Join(list, "; "))
}

// maxReasons bounds the reasons that are listed.
const maxReasons = 4

// missingSupplement says what is missing because of the supplementary file, empty if it is not.
func (d *Info) missingSupplement() string {
	if d.absent == nil {
		return ""
	}
	n := 0
	d.Sections.Units(func(u *Unit) {
		if d.Sections.abbrevs(u.abbrevs, u.Format).refersToSupplement() {
			n++
		}
	}, func(uint64, error) {})
	why := "cannot be read: " + plain(d.absent.Err)
	switch {
	case errors.Is(d.absent, fs.ErrNotExist):
		why = "not found"
	case errors.Is(d.absent, elf.ErrOtherBuild):
		why = "of another build"
	}
	return fmt.Sprintf("the supplementary debug file %s is missing (%s), which %s refer to: the inlined functions, types, variables and names in it are unknown; function names and lines are known",
		d.absent.Name, why, units(n))
}

// units counts units for people.
func units(n int) string {
	if n == 1 {
		return "1 unit"
	}
	return fmt.Sprintf("%d units", n)
}
