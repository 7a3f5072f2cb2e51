package elf

import (
	"bytes"
	debugelf "debug/elf"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"path/filepath"

	"stackmill/internal/bytereader"
)

// maxBuildID bounds a build-id in bytes: most have 20, the longest hash in use 64.
const maxBuildID = 64

// BuildID returns the GNU build-id in hex, empty without one.
func (f *File) BuildID() string {
	var notes [][]byte
	for i := range f.Sections {
		if s := &f.Sections[i]; s.Type == debugelf.SHT_NOTE {
			notes = append(notes, f.Slice(s.Offset, s.Size))
		}
	}
	for _, b := range append(notes, f.noteSegments...) {
		if id := buildIDOf(f.Order, b); id != "" {
			return id
		}
	}
	return ""
}

// NotesBuildID returns the build-id in ELF notes of this machine's byte order, empty without one.
func NotesBuildID(b []byte) string { return buildIDOf(binary.NativeEndian, b) }

func buildIDOf(u binary.ByteOrder, b []byte) string {
	for len(b) >= 12 {
		name, desc := uint64(u.Uint32(b)), uint64(u.Uint32(b[4:]))
		kind := u.Uint32(b[8:])
		b = b[12:]
		at, end := (name+3)&^3, (name+3)&^3+desc
		if end > uint64(len(b)) {
			return ""
		}
		if kind == 3 && name == 4 && string(b[:4]) == "GNU\x00" && desc > 0 && desc <= maxBuildID {
			return hex.EncodeToString(b[at:end])
		}
		b = b[min((end+3)&^3, uint64(len(b))):]
	}
	return ""
}

// MiniDebugInfo opens the object that is embedded in `.gnu_debugdata` and has more symbols; nil
// without one. The error is a *DamageError.
func (f *File) MiniDebugInfo() (*File, error) {
	s := f.Section(".gnu_debugdata")
	if s == nil {
		return nil, nil
	}
	b, err := f.Data(s)
	if err != nil {
		return nil, err
	}
	b, err = unxz(b)
	if err != nil {
		return nil, damaged(s.Offset, "section %s at offset %d: %w", s.Name, s.Offset, err)
	}
	e, err := New("embedded object", b)
	if err != nil {
		return nil, damaged(s.Offset, "section %s at offset %d: %w", s.Name, s.Offset, err)
	}
	for i, n := range e.Notes {
		e.Notes[i] = n.In("section "+s.Name, int64(s.Offset))
	}
	return e, nil
}

// debugLink returns the file name and the CRC in `.gnu_debuglink`.
func (f *File) debugLink() (name string, crc uint32, ok bool) {
	s := f.Section(".gnu_debuglink")
	if s == nil {
		return "", 0, false
	}
	b, err := f.Data(s)
	n := bytes.IndexByte(b, 0)
	if err != nil || n <= 0 || (n+4)&^3+4 > len(b) {
		return "", 0, false
	}
	return string(b[:n]), f.Order.Uint32(b[(n+4)&^3:]), true
}

// FindDebug opens the separate debug file of an object. It searches the directories by build-id
// (buildIDPaths), then follows .gnu_debuglink (debugLinkPaths). It skips files with another
// build-id or CRC, and returns notes on them. It returns nil if no file matches.
func FindDebug(f *File, dirs []string) (*File, []Note) {
	f.Search.Dirs = dirs
	s := debugSearch{object: f}
	id := f.BuildID()
	for _, path := range buildIDPaths(dirs, id) {
		if d := s.try(path, func(d *File) bool { return d.BuildID() == id }); d != nil {
			return d, s.notes
		}
	}
	name, crc, ok := f.debugLink()
	if !ok {
		return nil, s.notes
	}
	matches := func(d *File) bool {
		if other := d.BuildID(); id != "" && other != "" {
			return other == id
		}
		return d.crc() == crc
	}
	for _, path := range f.debugLinkPaths(name) {
		if d := s.try(path, matches); d != nil {
			return d, s.notes
		}
	}
	return nil, s.notes
}

// debugSearch is a search for the debug file of an object.
type debugSearch struct {
	object *File
	notes  []Note // about rejected files
}

// try opens a file and returns it if it matches, nil if not.
func (s *debugSearch) try(path string, matches func(*File) bool) *File {
	f := s.object
	if path == f.Path {
		return nil
	}
	d, err := Open(path)
	if err != nil {
		f.noteHostErr(err)
		if errors.Is(err, ErrNotELF) {
			s.notes = append(s.notes, Note{Offset: -1, Text: fmt.Sprintf("debug file %v", err)})
		}
		return nil
	}
	if d.Class != f.Class || d.Machine != f.Machine || !matches(d) {
		s.notes = append(s.notes, Note{Offset: -1, Text: fmt.Sprintf("debug file %s belongs to another object and is not used", path)})
		d.Close()
		return nil
	}
	d.Search = SearchPaths{Root: f.Search.Root, Dirs: f.Search.Dirs}
	return d
}

// crc computes the checksum of this file as it is in links to a debug file.
func (f *File) crc() (sum uint32) {
	f.Chunks(func(chunk []byte) { sum = crc32.Update(sum, crc32.IEEETable, chunk) })
	return sum
}

// Supplement opens the supplementary file, to which dwz moved the entries and strings that several
// debug files share. The link to it is `.gnu_debugaltlink`, with a build-id, or `.debug_sup`, with
// a checksum (DWARF 5 section 7.3.6). Supplement tries the link's path, below the search root and
// as it is; the folders of this file; and below each root of debug files the path, name and
// build-id. It returns nil without a link, and a *SupplementError if no file matches. The caller
// closes the file.
func (f *File) Supplement() (*File, error) {
	link, err := f.supplementLink()
	if link == nil || err != nil {
		return nil, err
	}
	path, id := link.path, hex.EncodeToString(link.id)
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(f.Path), path)
	}
	candidates := f.rooted(path)
	for _, dir := range f.Folders() {
		candidates = append(candidates, filepath.Join(dir, filepath.Base(path)))
	}
	for _, dir := range f.Search.Dirs {
		candidates = append(candidates, filepath.Join(dir, path), filepath.Join(dir, filepath.Base(path)))
	}
	var failed error
	for _, at := range append(candidates, buildIDPaths(f.Search.Dirs, id)...) {
		sup, err := Open(at)
		f.noteHostErr(err)
		if err == nil && (id == "" || sup.BuildID() != id) && !sup.isSupplement(link.id) {
			sup.Close()
			err = ErrOtherBuild
		}
		if err == nil {
			return sup, nil
		}
		if failed == nil || errors.Is(failed, fs.ErrNotExist) && !errors.Is(err, fs.ErrNotExist) {
			failed = err
		}
	}
	return nil, &SupplementError{Name: link.path, Path: candidates[0], Err: failed}
}

// ErrOtherBuild means that a debug file belongs to another build.
var ErrOtherBuild = errors.New("it belongs to another build")

// SupplementError says why the supplementary file cannot be used.
type SupplementError struct {
	Name string // as in the link
	Path string // where the file was expected
	Err  error
}

func (e *SupplementError) Error() string {
	return fmt.Sprintf("supplementary debug file %s: %v", e.Name, e.Err)
}
func (e *SupplementError) Unwrap() error { return e.Err }

// supplementLink is a link to a supplementary file.
type supplementLink struct {
	path string
	id   []byte // build-id or checksum
}

// supplementLink reads the link to the supplementary file, nil if there is none.
func (f *File) supplementLink() (*supplementLink, error) {
	if s := f.Section(".gnu_debugaltlink"); s != nil {
		b, err := f.Data(s)
		n := bytes.IndexByte(b, 0)
		if err != nil || n <= 0 {
			return nil, damaged(s.Offset, "section %s at offset %d is damaged", s.Name, s.Offset)
		}
		return &supplementLink{string(b[:n]), b[n+1:]}, nil
	}
	own, link, err := f.supplementSection()
	if own || err != nil {
		return nil, err
	}
	return link, nil
}

// supplementSection reads `.debug_sup`. own means that this file is itself a supplementary file,
// and that link has its own checksum.
func (f *File) supplementSection() (own bool, link *supplementLink, err error) {
	s := f.Section(".debug_sup")
	if s == nil {
		return false, nil, nil
	}
	b, err := f.Data(s)
	c := bytereader.New(b, f.Order)
	version := c.U16()
	own = c.U8() != 0
	path := string(c.Text())
	link = &supplementLink{path, c.Block()}
	if err != nil || c.Short || version != 5 || !own && path == "" {
		return false, nil, damaged(s.Offset, "section %s at offset %d is damaged", s.Name, s.Offset)
	}
	return own, link, nil
}

// isSupplement reports whether this file is a supplementary file with the given checksum.
func (f *File) isSupplement(checksum []byte) bool {
	own, link, err := f.supplementSection()
	return own && err == nil && bytes.Equal(link.id, checksum)
}

// buildIDPaths returns the candidate paths of a debug file with a build-id below each directory: as
// stored by distributions, perf and debuginfod's clients, or directly in the directory.
func buildIDPaths(dirs []string, id string) (list []string) {
	if len(id) <= 2 {
		return nil
	}
	for _, dir := range dirs {
		at := filepath.Join(dir, ".build-id", id[:2], id[2:])
		list = append(list, at+".debug", filepath.Join(at, "debug"), filepath.Join(dir, id, "debuginfo")) // the second is perf's
	}
	for _, dir := range dirs {
		list = append(list, FilesByBuildID(dir, id, true)...)
	}
	return list
}
