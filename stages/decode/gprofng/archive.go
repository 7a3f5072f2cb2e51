package gprofng

import (
	"os"
	"path/filepath"
	"strings"

	"stackmill/stages/decode"
)

// locator returns the function that finds the files of load objects: in the
// archives by hashed name, then at the recorded path (gprofng-experiment 1.4).
func locator(path string) func(string) []decode.Candidate {
	archives := archivesOf(path)
	return func(object string) []decode.Candidate {
		if object == "" || object[0] == '<' || object[0] == '[' {
			return nil
		}
		var found []decode.Candidate
		for _, c := range []decode.Candidate{
			{Path: filepath.Join(archives, archiveName(object)), Origin: "archive"},
			{Path: object, Origin: "path"},
		} {
			if info, err := os.Stat(c.Path); err == nil && info.Mode().IsRegular() {
				found = append(found, c)
			}
		}
		return found
	}
}

// archivesOf returns where the archives of an experiment are. Of a descendant
// opened by itself, the founder has them.
func archivesOf(path string) string {
	archives := filepath.Join(path, archivesDir)
	if !exists(archives) && strings.HasPrefix(filepath.Base(filepath.Clean(path)), "_") {
		return filepath.Join(path, "..", archivesDir)
	}
	return archives
}

// The longest base name that an archive keeps whole, and what it keeps of longer ones.
const (
	maxArchiveBase = 243
	cutArchiveBase = 231
)

// archiveName returns the name under which an archive holds a load object.
func archiveName(path string) string {
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

// pathHash returns the 11 characters that stand for a directory in an archive's names.
func pathHash(s string) string {
	var r uint64
	for i := range len(s) {
		r = r<<8 ^ hashTable[byte(r>>56)^s[i]]
	}
	var out [11]byte
	for i := range out {
		out[i] = hashAlphabet[r&63]
		r >>= 6
	}
	return string(out[:])
}
