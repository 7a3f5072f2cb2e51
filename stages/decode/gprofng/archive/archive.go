// Package archive names the files in an experiment's archives
// (gprofng-experiment 1.4).
package archive

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"strings"
)

// Dir is the folder of an experiment that holds copies of load objects.
const Dir = "archives"

// Holds reports whether path, the path of a file inside an experiment, leads into an archive.
func Holds(path string) bool { return filepath.Base(filepath.Dir(path)) == Dir }

// The longest base name that an archive keeps whole, and how much it keeps of longer ones.
const (
	maxArchiveBase = 243
	cutArchiveBase = 231
)

// Name returns the name under which an archive holds the load object recorded
// as path: its base name and a hash of its directory.
func Name(path string) string {
	slash := strings.LastIndexByte(path, '/') + 1
	dir, base := path[:slash], path[slash:]
	if dir == "" {
		dir = "./"
	}
	if len(base) > maxArchiveBase {
		return base[:cutArchiveBase] + "_" + pathHash(dir) + "_" + pathHash(base)
	}
	return base + "_" + pathHash(dir)
}

// SymbolTable returns the name under which an archive holds a symbol table in place of
// the load object (studio-experiment 6): with a dot before the hash.
func SymbolTable(path string) string {
	name := Name(path)
	at := len(name) - hashLength - 1
	return name[:at] + "." + name[at+1:]
}

// IsSymbolTable reports whether an entry of an archive has the name of a symbol table.
func IsSymbolTable(entry string) bool {
	at := len(entry) - hashLength - 1
	return at > 0 && entry[at] == '.' && strings.Trim(entry[at+1:], hashAlphabet) == ""
}

// ObjectOf returns the path of the load object that a symbol table belongs to. The path is at the
// end of the table's first packet. head is the start of the file; if it is not a symbol table, the
// result is empty.
func ObjectOf(head []byte) string {
	const path = 20 // offset of the path: after the packet's header, a version, and three numbers
	if len(head) <= path || head[0] != 0 || head[1] != 1 {
		return ""
	}
	size := int(binary.LittleEndian.Uint16(head[2:]))
	if size <= path || size > len(head) {
		return ""
	}
	name, _, _ := bytes.Cut(head[path:size], []byte{0})
	return string(name)
}

const hashAlphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"

// hashLength is the length of a directory's hash.
const hashLength = 11

// hashTable holds the carry-less product of every byte with 0x807.
var hashTable = func() (t [256]uint64) {
	for b := range t {
		for k := range 8 {
			if b>>k&1 != 0 {
				t[b] ^= 0x807 << k
			}
		}
	}
	return t
}()

// pathHash returns the hash that replaces a directory in the names of archived files.
func pathHash(s string) string {
	var r uint64
	for i := range len(s) {
		r = r<<8 ^ hashTable[byte(r>>56)^s[i]]
	}
	var out [hashLength]byte
	for i := range out {
		out[i] = hashAlphabet[r&63]
		r >>= 6
	}
	return string(out[:])
}

// IsCommon reports whether the entry of an archive may be a link to a file in a common archive,
// where a file's name is a checksum and its base name.
func IsCommon(entry, file string) bool {
	sum, base, ok := strings.Cut(file, "_")
	if !ok || sum == "" || strings.Trim(sum, "0123456789") != "" {
		return false
	}
	hash := strings.TrimPrefix(entry, base)
	return base != "" && len(hash) < len(entry) && len(hash) == 1+hashLength && hash[0] == '_'
}
