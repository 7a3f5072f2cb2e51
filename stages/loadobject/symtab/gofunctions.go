package symtab

import (
	debugelf "debug/elf"
	"encoding/binary"
	"errors"

	"stackmill/stages/loadobject/elf"
)

// Magic numbers of the Go runtime's table of functions, by the version of Go that introduced
// them (internal/abi.PCLnTabMagic).
const (
	go116Table = 0xfffffffa
	go118Table = 0xfffffff0
	go120Table = 0xfffffff1
)

var errGoTable = &elf.DamageError{Offset: -1, Err: errors.New("the Go runtime's table of functions is damaged: functions have no names")}

// goFunctions returns the functions in the Go runtime's own table (`.gopclntab`). Programs keep
// this table when `go build -ldflags=-s` or strip removes their symbols (S3).
func (r *reader) goFunctions() []symbol {
	for _, name := range []string{".gopclntab", ".data.rel.ro.gopclntab"} {
		section, text := r.object.Section(name), r.object.Section(".text")
		if section == nil || text == nil || section.Type == debugelf.SHT_NOBITS {
			continue
		}
		data, err := r.object.Data(section)
		r.note(r.object, err)
		table, ok := readGoTable(r.object, data)
		if err != nil || !ok {
			return nil
		}
		list, err := table.functions(r, text)
		r.note(r.object, err)
		return list
	}
	return nil
}

// goTable is the Go runtime's table of functions.
type goTable struct {
	order binary.ByteOrder
	word  int    // size of an address
	field int    // size of an entry's fields
	start uint64 // address of the text, if the table has it
	count uint64
	names []byte
	// index has count entries. An entry is a function's address and the position of its description
	// in the index. After the entries follows the end of the last function.
	index []byte
}

// readGoTable reads the header of the table; false for an unknown version.
func readGoTable(f *elf.File, data []byte) (goTable, bool) {
	if len(data) < 8 {
		return goTable{}, false
	}
	t := goTable{order: f.Order, word: int(data[7]), field: 4}
	offsets := 3 // words before the names' offset
	switch t.order.Uint32(data) {
	case go116Table:
		t.field, offsets = t.word, 2
	case go118Table, go120Table:
	default:
		return t, false
	}
	if t.word != 4 && t.word != 8 || len(data) < 8+(offsets+5)*t.word {
		return t, false
	}
	word := func(i int) uint64 { return t.read(data[8+i*t.word:], t.word) }
	t.count = word(0)
	if offsets == 3 {
		t.start = word(2)
	}
	names, index := word(offsets), word(offsets+4)
	if names > uint64(len(data)) || index > uint64(len(data)) {
		return t, true // the count exceeds the index: functions reports that
	}
	t.names, t.index = data[names:], data[index:]
	return t, true
}

func (t *goTable) read(b []byte, size int) uint64 {
	if size == 8 {
		return t.order.Uint64(b)
	}
	return uint64(t.order.Uint32(b))
}

func (t *goTable) functions(r *reader, text *elf.Section) ([]symbol, error) {
	entry := uint64(2 * t.field)
	if t.count == 0 || t.count >= uint64(len(t.index))/entry {
		return nil, errGoTable
	}
	// Since Go 1.18, addresses are relative to the start of the text. Until Go 1.25, the table
	// contains that start.
	start := t.start
	if t.field == 4 && start == 0 {
		start = text.Address
	}
	if t.field != 4 {
		start = 0
	}
	address := func(i uint64) uint64 { return start + t.read(t.index[i*entry:], t.field) }
	// A C linker may have added other code to the section, so that Go's text does not begin it:
	// then the addresses are unknown.
	if end := address(t.count); t.start == 0 && t.field == 4 && (end > text.Address+text.Size || text.Address+text.Size-end > maxGoPadding) {
		return nil, nil
	}
	list := make([]symbol, 0, t.count)
	for i := range t.count {
		description := t.read(t.index[i*entry+uint64(t.field):], t.field)
		if description+uint64(t.field)+4 > uint64(len(t.index)) || description > uint64(len(t.index)) || address(i+1) <= address(i) {
			return list, errGoTable
		}
		name := elf.StringAt(t.names, uint64(t.order.Uint32(t.index[description+uint64(t.field):])))
		if r.bytes -= len(name); r.bytes < 0 {
			return list, errNames
		}
		offset, ok := r.addresses.Offset(address(i))
		if ok && name != "" {
			list = append(list, symbol{name: name, offset: offset, size: address(i+1) - address(i), order: len(list), binding: debugelf.STB_LOCAL})
		}
	}
	return list, nil
}

// maxGoPadding bounds the padding after the last function of a section that has only Go code.
const maxGoPadding = 64
