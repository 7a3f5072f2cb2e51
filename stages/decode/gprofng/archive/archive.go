// Package archive names the files in an experiment's archives
// (gprofng-experiment 1.4).
package archive

import "strings"

// Dir is the folder of an experiment that holds copies of load objects.
const Dir = "archives"

// The longest base name that an archive keeps whole, and what it keeps of longer ones.
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

const hashAlphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"

// hashLength is how many characters stand for a directory.
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

// pathHash returns the characters that stand for a directory in an archive's names.
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

// IsCommon reports whether the entry of an archive may be a link to the file of that
// name in a common archive, where files are named by a checksum and their base name.
func IsCommon(entry, file string) bool {
	sum, base, ok := strings.Cut(file, "_")
	if !ok || sum == "" || strings.Trim(sum, "0123456789") != "" {
		return false
	}
	hash := strings.TrimPrefix(entry, base)
	return base != "" && len(hash) < len(entry) && len(hash) == 1+hashLength && hash[0] == '_'
}
