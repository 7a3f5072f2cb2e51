package gprofngtest

import "encoding/binary"

// SymbolModule is a module of a symbol table that Studio 12.3 archives in place of a copy
// of a load object (studio-experiment 6).
type SymbolModule struct {
	Language       uint32
	Object, Source string // paths of the files; `(unknown)` without debug information
	Functions      []SymbolFunction
}

// SymbolFunction is one name of a function, with the function's offset in the load object's file
// and its size.
type SymbolFunction struct {
	Offset, Size uint32
	Name         string
}

// The kinds of packets of a symbol table.
const (
	symbolSegment  = 1
	symbolMessage  = 2
	symbolModule   = 4
	symbolFunction = 5
	symbolText     = 13
)

// SymbolTable returns the content of an archived symbol table of the load object recorded as path.
// textSize is the size of the load object's text.
func SymbolTable(path string, inode, textSize uint32, modules ...SymbolModule) []byte {
	b := SymbolPacket(nil, symbolSegment, []uint32{0x100, inode, textSize, 6}, path)
	b = SymbolPacket(b, symbolMessage, []uint32{9})
	b = SymbolPacket(b, symbolText, nil, "Archived by er_archive: "+Studio123.Collector())
	for _, m := range modules {
		b = SymbolPacket(b, symbolModule, []uint32{m.Language, 1}, m.Object, m.Source)
		for _, f := range m.Functions {
			b = SymbolPacket(b, symbolFunction, []uint32{f.Offset, f.Size, f.Offset}, f.Name)
		}
	}
	return b
}

// SymbolPacket appends a packet of numbers and texts to a symbol table.
func SymbolPacket(b []byte, kind uint16, numbers []uint32, texts ...string) []byte {
	o, start := binary.LittleEndian, len(b)
	b = append(b, 0, 0, 0, 0)
	for _, n := range numbers {
		b = o.AppendUint32(b, n)
	}
	for _, t := range texts {
		b = append(append(b, t...), make([]byte, (len(t)+4)&^3-len(t))...)
	}
	o.PutUint16(b[start:], kind<<8)
	o.PutUint16(b[start+2:], uint16(len(b)-start))
	return b
}
