package perfdata

import (
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"strings"

	"stackmill/internal/safefile"
)

// LooksLike reports whether a path that Detect rejects seems to be a damaged recording: by a name
// that perf gives, or by a header behind damaged first bytes (perf-data 1.1, 3.1).
func (d *Decoder) LooksLike(path string) bool {
	main := filepath.Join(path, mainFile)
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		_, err := os.Stat(main)
		return err == nil && isRecordingName(filepath.Base(path)) || hasStructure(main)
	}
	return isRecordingName(filepath.Base(path)) || hasStructure(path)
}

// isRecordingName reports whether a name contains `perf.data` with separators around it.
func isRecordingName(base string) bool {
	before, behind, ok := strings.Cut(base, "perf.data")
	boundary := func(s string) bool { return s == "" || !isLetter(s[0]) }
	return ok && boundary(behind) && (before == "" || !isLetter(before[len(before)-1])) && !isDerived(behind)
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// isDerived reports whether the suffix of a recording's name belongs to a file made from it: a
// report, an archive, a checksum.
func isDerived(behind string) bool {
	switch filepath.Ext(behind) {
	case "", ".old", ".data":
		return false
	}
	for _, c := range filepath.Ext(behind)[1:] {
		if c < '0' || c > '9' {
			return true
		}
	}
	return false // perf.data.1
}

// hasStructure reports whether a file's header has plausible sections, or the file continues like
// a recording from a pipe.
func hasStructure(path string) bool {
	f, info, err := safefile.Open(path, safefile.Recording)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, headerSize)
	if n, err := io.ReadFull(f, head); n < 64 || err != nil && err != io.ErrUnexpectedEOF {
		return false
	}
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		word := func(i int) uint64 { return order.Uint64(head[8*i:]) }
		within := func(offset, size uint64) bool {
			return offset >= headerSize-32 && offset <= uint64(info.Size()) && size <= uint64(info.Size())-offset
		}
		switch word(1) {
		case headerSize, headerSize - 32:
			entry := word(2)
			if entry >= minAttr+16 && entry < 1<<12 && word(4) > 0 && word(4)%entry == 0 && within(word(3), word(4)) && within(word(5), 0) {
				return true
			}
		case pipeHeaderSize:
			typ, size := order.Uint32(head[16:]), order.Uint16(head[22:])
			if typ >= recordTool && typ <= recordToolKnown && size >= recordHeader && size%8 == 0 {
				return true
			}
		}
	}
	return false
}
