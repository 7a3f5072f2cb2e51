package dwarf

import (
	"errors"
	"io/fs"
	"path"
	"strings"

	"stackmill/stages/loadobject/elf"
)

// maxText bounds the sum of the lengths of all names that are kept of an object,
// and maxPath that of one: hostile tables could join long strings over and over.
const (
	maxText = 256 << 20
	maxPath = 1 << 14
)

// info is the debug information of a load object: that of its separate debug file
// if that has any, or else its own (gprofng-experiment 6.7).
type info struct {
	object   *elf.File
	source   *elf.File // the file that holds it
	sections *sections

	log
	split  split
	absent string // the file that dwz moved entries to, if it is missing
	text   int    // bytes of names that are kept
}

// newInfo returns what can tell of an object; nothing is read yet.
func newInfo(object, debug *elf.File) *info {
	d := &info{object: object, source: object}
	if debug != nil && Has(debug) {
		d.source = debug
	}
	return d
}

// Has reports whether a file has debug information.
func Has(f *elf.File) bool {
	return f.Section(".debug_info") != nil || f.Section(".zdebug_info") != nil
}

// open reads the sections of the object, and opens the file that dwz moved
// entries and strings to, nil if there is none, which the caller closes.
func (d *info) open() (alternate *elf.File) {
	alternate, err := d.source.Alternate()
	if err != nil {
		d.fail(d.source, err)
	}
	if at := (*fs.PathError)(nil); errors.As(err, &at) && errors.Is(err, fs.ErrNotExist) {
		d.absent = at.Path
	}
	d.sections = d.load(alternate)
	return alternate
}

// close closes the files of split units.
func (d *info) close() { d.split.close() }

// load reads the sections.
func (d *info) load(alternate *elf.File) *sections {
	s := &sections{order: d.source.Order}
	for _, x := range []struct {
		name string
		to   *[]byte
	}{
		{"info", &s.info}, {"abbrev", &s.abbrev}, {"str", &s.str}, {"line_str", &s.lineStr},
		{"str_offsets", &s.strOffsets}, {"addr", &s.addr}, {"line", &s.line},
		{"ranges", &s.ranges}, {"rnglists", &s.rnglists},
	} {
		*x.to = d.section(d.source, x.name)
	}
	if alternate != nil {
		s.altStr = d.section(alternate, "str")
	}
	s.bound()
	return s
}

// section returns a section of debug information, empty if it cannot be read.
func (d *info) section(f *elf.File, name string) []byte {
	b, err := f.Debug(name)
	if err != nil {
		d.fail(f, err)
	}
	return b
}

// half passes the other half of a skeleton unit with the sections that it is in,
// if that is not missing. They must not be used afterwards. It is false for a unit
// that is whole.
func (d *info) half(u *unit, use func(names *sections, half *unit)) bool {
	name, dir := d.sections.dwoName(u), d.sections.text(u, attrCompDir)
	if name == nil || len(dir)+len(name) > maxPath {
		return false
	}
	if err := d.split.find(d.object, string(dir), string(name), u.dwoID, use); err != nil {
		d.fail(nil, err)
	}
	return true
}

// room reports whether a name of n bytes may be kept.
func (d *info) room(n int) bool {
	d.text += n
	return n <= maxPath && d.text <= maxText
}

// unitName returns a unit's name, or that of its first source file, and its
// language; a skeleton unit has them in its split half. The name is empty if
// nothing says it.
func (d *info) unitName(u, half *unit, names *sections, firstFile string) (name, lang string) {
	dir, own := d.sections.text(u, attrCompDir), names.text(half, attrName)
	if name = string(own); name == "" {
		name = firstFile
	}
	if !d.room(len(dir)+len(name)) || name == "" {
		return "", ""
	}
	lang = language(half.attrs[attrLanguage].u)
	switch {
	case lang == "Go": // the name is a package's, not a file's
	case path.IsAbs(name):
		name = path.Clean(name)
	default:
		name = path.Join(string(dir), name)
	}
	return valid(name), lang
}

// valid makes a name fit for columns of strings.
func valid(name string) string { return strings.ToValidUTF8(name, "\ufffd") }

// missing returns the files that would have told more. Those that tell of many
// units come first, since who looks for them again looks for the first ones.
func (d *info) missing() (files []string) {
	if d.absent != "" {
		files = append(files, d.absent)
	}
	if len(d.split.missing) > 0 {
		files = append(files, d.split.noPack...)
	}
	return append(files, d.split.missing...)
}
