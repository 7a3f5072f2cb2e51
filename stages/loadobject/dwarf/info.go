package dwarf

import (
	"cmp"
	debugdwarf "debug/dwarf"
	"errors"
	"io/fs"
	"path"
	"strings"

	"stackmill/stages/loadobject/elf"
)

// maxText bounds the total length of an object's names, and MaxPath the length of one:
// hostile files could join long strings over and over.
const (
	maxText = 256 << 20
	MaxPath = 1 << 14
)

// Info is the debug information of a load object: of its separate debug file if that has any, else
// of the object (gprofng-experiment 6.7).
type Info struct {
	Object   *elf.File
	Source   *elf.File // the file with the debug information
	Sections *Sections

	noteLog
	split             splitUnits
	missingSupplement *elf.SupplementError // why there is no supplementary file; nil if it was found or is not needed
	text              int                  // total length of names, bytes
}

// New selects the debug information of an object or of its separate debug file, which may be nil. It
// reads nothing yet.
func New(object, debug *elf.File) *Info {
	d := &Info{Object: object, Source: object}
	if debug != nil && Has(debug) {
		d.Source = debug
	}
	return d
}

// Has reports whether a file has debug information.
func Has(f *elf.File) bool {
	return f.Section(".debug_info") != nil || f.Section(".zdebug_info") != nil
}

// Open reads the sections of the file and of its supplementary file, to which dwz moves entries and
// strings that several files share. It returns the supplementary file, nil without one; the caller
// closes it.
func (d *Info) Open() (supplement *elf.File) {
	supplement, err := d.Source.Supplement()
	if err != nil && !errors.As(err, &d.missingSupplement) {
		d.Fail(d.Source, err)
	}
	d.Sections = d.load(d.Source)
	if supplement != nil {
		d.Sections.Supplement = d.load(supplement)
	}
	return supplement
}

// Close closes the files of split units.
func (d *Info) Close() { d.split.close() }

// load reads the sections of a file.
func (d *Info) load(f *elf.File) *Sections {
	s := &Sections{Order: f.Order}
	for _, x := range []struct {
		name string
		to   *[]byte
	}{
		{"info", &s.info}, {"abbrev", &s.abbrev}, {"str", &s.str}, {"line_str", &s.lineStr},
		{"str_offsets", &s.strOffsets}, {"addr", &s.Addr}, {"line", &s.Line},
		{"ranges", &s.ranges}, {"rnglists", &s.rnglists},
	} {
		*x.to = d.section(f, x.name)
	}
	s.SetBudget()
	return s
}

// section returns a section of debug information, empty if it cannot be read.
func (d *Info) section(f *elf.File, name string) []byte {
	b, err := f.Debug(name)
	if err != nil {
		d.Fail(f, err)
	}
	return b
}

// SplitUnit finds the split unit that belongs to a skeleton unit, and passes it and its sections to
// use, unless it is missing. Both are valid only during the call. SplitUnit returns false if u is
// not a skeleton unit.
func (d *Info) SplitUnit(u *Unit, use func(names *Sections, split *Unit)) bool {
	name, dir := d.Sections.DwoName(u), d.Sections.Text(u, debugdwarf.AttrCompDir)
	if name == nil || len(dir)+len(name) > MaxPath {
		return false
	}
	d.split.find(d, string(dir), string(name), u.dwoID, use)
	return true
}

// Room counts a name of n bytes, and reports whether the bounds leave room for it.
func (d *Info) Room(n int) bool {
	d.text += n
	return n <= MaxPath && d.text <= maxText
}

// UnitName returns a unit's language and name; without a name, the name of its first source file;
// empty if both are unknown. For a skeleton unit, split is its split unit, which has the
// attributes; for any other unit, split is u.
func (d *Info) UnitName(u, split *Unit, names *Sections, firstFile string) (name, lang string) {
	var dir []byte
	if u == split {
		dir = names.Text(u, debugdwarf.AttrCompDir)
	} else {
		dir = d.Sections.Text(u, debugdwarf.AttrCompDir)
	}
	name = cmp.Or(string(names.Text(split, debugdwarf.AttrName)), firstFile)
	if !d.Room(len(dir)+len(name)) || name == "" {
		return "", ""
	}
	lang = Language(split.Attrs.Get(debugdwarf.AttrLanguage).Uint)
	switch {
	case lang == "Go": // the name is a package's, not a file's
	case path.IsAbs(name):
		name = path.Clean(name)
	default:
		name = path.Join(string(dir), name)
	}
	return Valid(name), lang
}

// Valid replaces the bytes in a name that are not UTF-8.
func Valid(name string) string { return strings.ToValidUTF8(name, "\ufffd") }

// Missing returns the files that were not found. The supplementary file and packages, which have
// many units, come first, because later searches look only for the first few files.
func (d *Info) Missing() (files []string) {
	if d.missingSupplement != nil && errors.Is(d.missingSupplement, fs.ErrNotExist) {
		files = append(files, d.missingSupplement.Path)
	}
	if len(d.split.missing) > 0 {
		files = append(files, d.split.missingPackages...)
	}
	return append(files, d.split.missing...)
}
