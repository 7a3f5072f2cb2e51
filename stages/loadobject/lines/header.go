package lines

import (
	debugdwarf "debug/dwarf"
	"errors"
	"fmt"
	"path"

	"stackmill/internal/bytereader"
	"stackmill/stages/loadobject/dwarf"
)

// header is the header of a line number program (DWARF 5 section 6.2.4).
type header struct {
	dwarf.Format
	minInst, maxOps  uint64
	lineBase         int64
	lineRange        uint64
	opcodeBase       uint8
	operands         []byte // number of operands, by opcode, from 1
	dirs             [][]byte
	files            []file
	program          bytereader.Reader
	compDir          []byte
	strOffsetsBase   uint64
	lowestFileNumber uint64
}

type file struct {
	name []byte
	dir  uint64
}

// readHeader reads the header at an offset of .debug_line.
func readHeader(s *dwarf.Sections, off uint64, u *dwarf.Unit) (*header, error) {
	c := bytereader.At(s.Line, off, s.Order)
	n, wide := c.Length()
	c = c.Sub(n)
	if s.ProgramBytes -= len(c.Rest); s.ProgramBytes < 0 {
		return nil, errors.New("the line number programs overlap")
	}
	h := &header{Format: dwarf.Format{Version: int(c.U16()), Wide: wide, AddrSize: u.AddrSize}}
	if c.Short {
		return nil, dwarf.ErrShort
	}
	if h.Version < 2 || h.Version > 5 {
		return nil, fmt.Errorf("unknown version %d", h.Version)
	}
	h.compDir = s.Text(u, debugdwarf.AttrCompDir)
	h.strOffsetsBase = u.StrOffsetsBase()
	if h.Version == 5 {
		h.AddrSize = int(c.U8())
		c.U8() // segment selector size
	}
	head := c.Offset(wide)
	body := c.Sub(head)
	h.program = c
	h.parameters(&body)
	if body.Short || c.Short {
		return nil, dwarf.ErrShort
	}
	if h.lineRange == 0 || h.opcodeBase == 0 || h.AddrSize < 1 || h.AddrSize > 8 {
		return nil, errors.New("the header has no line range, no opcodes or an invalid address size")
	}
	if h.Version == 5 {
		return h, h.readNamesV5(s, &body)
	}
	h.readNames(&body)
	return h, nil
}

// parameters reads the fields of the header that opcodes use.
func (h *header) parameters(c *bytereader.Reader) {
	h.minInst, h.maxOps = uint64(c.U8()), 1
	if h.Version >= 4 {
		h.maxOps = max(1, uint64(c.U8()))
	}
	c.U8() // default of is_stmt
	h.lineBase = int64(int8(c.U8()))
	h.lineRange = uint64(c.U8())
	h.opcodeBase = c.U8()
	if h.opcodeBase > 0 {
		h.operands = c.Bytes(uint64(h.opcodeBase) - 1)
	}
}

// readNames reads the directories and files of versions 2 to 4, numbered from 1.
func (h *header) readNames(c *bytereader.Reader) {
	h.lowestFileNumber = 1
	h.dirs = append(h.dirs, h.compDir)
	for d := c.Text(); len(d) > 0; d = c.Text() {
		h.dirs = append(h.dirs, d)
	}
	for name := c.Text(); len(name) > 0; name = c.Text() {
		h.files = append(h.files, readFile(c, name))
	}
}

func readFile(c *bytereader.Reader, name []byte) file {
	f := file{name, c.ULEB()}
	c.ULEB() // time of modification
	c.ULEB() // length
	return f
}

// readNamesV5 reads the directories and files of version 5, numbered from 0.
func (h *header) readNamesV5(s *dwarf.Sections, c *bytereader.Reader) error {
	dirs, err := h.entryList(s, c)
	if err != nil {
		return fmt.Errorf("directories: %w", err)
	}
	for _, d := range dirs {
		h.dirs = append(h.dirs, d.name)
	}
	if h.files, err = h.entryList(s, c); err != nil {
		return fmt.Errorf("files: %w", err)
	}
	return nil
}

// entryList reads a list of directories or files, which begins with the format of its entries.
func (h *header) entryList(s *dwarf.Sections, c *bytereader.Reader) ([]file, error) {
	const lnctPath, lnctDirectoryIndex = 1, 2
	type field struct{ content, form uint64 }
	var fields []field
	for n := c.U8(); n > 0; n-- {
		fields = append(fields, field{c.ULEB(), c.ULEB()})
	}
	n := c.ULEB()
	if n > uint64(len(c.Rest)) || n > 0 && len(fields) == 0 { // an entry takes at least one byte
		return nil, dwarf.ErrShort
	}
	u := &dwarf.Unit{Format: h.Format, Attrs: dwarf.Attrs{{Name: debugdwarf.AttrStrOffsetsBase, Value: dwarf.Value{Form: dwarf.FormUdata, Uint: h.strOffsetsBase}}}}
	var list []file
	for ; n > 0; n-- {
		var f file
		for _, x := range fields {
			v, ok := h.Format.Value(c, x.form)
			if !ok {
				return nil, fmt.Errorf("unknown form %#x", x.form)
			}
			switch x.content {
			case lnctPath:
				f.name = s.TextOf(u, v)
			case lnctDirectoryIndex:
				f.dir = v.Uint
			}
		}
		if c.Short {
			return nil, dwarf.ErrShort
		}
		list = append(list, f)
	}
	return list, nil
}

// path returns the full path of a file by its number, empty if there is no such file.
func (h *header) path(number uint64) string {
	i := number - h.lowestFileNumber
	if i >= uint64(len(h.files)) {
		return ""
	}
	f := h.files[i]
	name := string(f.name)
	if name == "" || path.IsAbs(name) {
		return clean(name)
	}
	if f.dir < uint64(len(h.dirs)) {
		name = path.Join(string(h.dirs[f.dir]), name)
	}
	if !path.IsAbs(name) && f.dir > 0 { // 0 is the compilation directory
		name = path.Join(string(h.compDir), name)
	}
	return name
}

func clean(name string) string {
	if name == "" {
		return ""
	}
	return path.Clean(name)
}
