package dwarf

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"stackmill/stages/loadobject/elf"
)

// missingReason is a reason why split units are missing, and the files with this reason.
type missingReason struct {
	text  string // what is wrong with the files
	first string // the first file with this reason
	files map[string]bool
}

func (p *splitUnits) noteMissing(file string, why error) {
	p.missingUnits++
	text := reasonText(why)
	for i := range p.reasons {
		if p.reasons[i].text == text {
			p.reasons[i].files[file] = true
			return
		}
	}
	p.reasons = append(p.reasons, missingReason{text, file, map[string]bool{file: true}})
}

// reasonText returns why a file cannot be used, without its name.
func reasonText(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "not found"
	case errors.Is(err, elf.ErrOtherBuild):
		return "of another build"
	}
	if at := (*fs.PathError)(nil); errors.As(err, &at) {
		err = at.Err
	}
	return "cannot be read: " + err.Error()
}

// missingSplitText says which split units are missing; empty if none.
func (d *Info) missingSplitText() string {
	p := &d.split
	if p.missingUnits == 0 {
		return ""
	}
	var list []string
	if p.pkg != nil {
		list = append(list, filepath.Base(p.pkgFile.Path)+" does not have it")
	}
	for i, r := range p.reasons {
		if i == maxReasons {
			list = append(list, fmt.Sprintf("%d more reasons", len(p.reasons)-i))
			break
		}
		switch n := len(r.files) - 1; n {
		case 0:
			list = append(list, r.first+" ("+r.text+")")
		case 1:
			list = append(list, r.first+" and 1 more file ("+r.text+")")
		default:
			list = append(list, fmt.Sprintf("%s and %d more files (%s)", r.first, n, r.text))
		}
	}
	return fmt.Sprintf("the split debug information of %s is missing: %s. The inlined functions, types, variables and languages in it are unknown; function names and lines are known",
		countUnits(p.missingUnits), strings.Join(list, "; "))
}

// maxReasons bounds the listed reasons.
const maxReasons = 4

// missingSupplementText says what is unknown because the supplementary file is missing; empty if it
// is not missing.
func (d *Info) missingSupplementText() string {
	if d.missingSupplement == nil {
		return ""
	}
	n := 0
	d.Sections.Units(func(u *Unit) {
		if d.Sections.abbrevTable(u).refersToSupplement() {
			n++
		}
	}, func(uint64, error) {})
	return fmt.Sprintf("the supplementary debug file %s is missing (%s): the inlined functions, types, variables and names that it has for %s are unknown; function names and lines are known",
		d.missingSupplement.Name, reasonText(d.missingSupplement.Err), countUnits(n))
}

func countUnits(n int) string {
	if n == 1 {
		return "1 unit"
	}
	return fmt.Sprintf("%d units", n)
}
