package elf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"hash/crc64"
	"io"

	"github.com/ulikunitz/xz/lzma"
)

// maxDict bounds the dictionary of an xz stream: xz -9 uses 64 MiB.
const maxDict = 128 << 20

var errXZ = errors.New("damaged xz stream")

// checkSizes maps the type of a stream's checksums to their size in bytes.
var checkSizes = [16]int{0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64}

// unxz decompresses the first stream of an xz file. It parses the container itself, to check the
// dictionary's size in a block header before the decoder allocates the dictionary.
func unxz(b []byte) ([]byte, error) {
	if len(b) < 12 || string(b[:6]) != "\xfd7zXZ\x00" {
		return nil, errXZ
	}
	check := b[7] & 15
	most := inflatedLimit(len(b))
	var out bytes.Buffer
	for pos := 12; ; {
		if pos >= len(b) {
			return nil, io.ErrUnexpectedEOF
		}
		if b[pos] == 0 { // the index follows the last block
			return out.Bytes(), nil
		}
		head := (int(b[pos]) + 1) * 4
		if len(b)-pos < head {
			return nil, io.ErrUnexpectedEOF
		}
		dict, err := dictionarySize(b[pos : pos+head])
		if err != nil {
			return nil, err
		}
		pos += head
		used, err := decodeBlock(b[pos:], dict, check, &out, most)
		if err != nil {
			return nil, err
		}
		pos += used
	}
}

// dictionarySize reads the size of the dictionary in a block header.
func dictionarySize(h []byte) (int64, error) {
	n := len(h) - 4
	if crc32.ChecksumIEEE(h[:n]) != binary.LittleEndian.Uint32(h[n:]) {
		return 0, errXZ
	}
	flags, rest := h[1], h[2:n]
	if flags&3 != 0 {
		return 0, fmt.Errorf("xz stream with %d filters", flags&3+1)
	}
	for _, bit := range []byte{0x40, 0x80} { // the optional sizes
		if flags&bit != 0 {
			_, k := binary.Uvarint(rest)
			if k <= 0 {
				return 0, errXZ
			}
			rest = rest[k:]
		}
	}
	if len(rest) < 3 || rest[0] != 0x21 || rest[1] != 1 {
		return 0, errors.New("xz stream with a filter other than LZMA2")
	}
	dict, err := lzma.DecodeDictCap(rest[2])
	if err != nil || dict > maxDict {
		return 0, fmt.Errorf("xz dictionary of %d bytes, more than the limit of %d", dict, maxDict)
	}
	return dict, nil
}

// decodeBlock appends a block's content to out, up to most bytes in total, and returns the block's
// compressed length.
func decodeBlock(b []byte, dict int64, check byte, out *bytes.Buffer, most int) (int, error) {
	in := bytes.NewReader(b)
	r, err := lzma.Reader2Config{DictCap: int(max(dict, lzma.MinDictCap))}.NewReader2(in)
	if err != nil {
		return 0, err
	}
	start := out.Len()
	if _, err := io.Copy(out, io.LimitReader(r, int64(most-start)+1)); err != nil {
		return 0, err
	}
	if out.Len() > most {
		return 0, fmt.Errorf("more than the limit of %d bytes when decompressed", most)
	}
	used := (len(b) - in.Len() + 3) &^ 3
	size := checkSizes[check]
	if len(b) < used+size {
		return 0, io.ErrUnexpectedEOF
	}
	sum, ok := b[used:used+size], true
	switch check {
	case 1:
		ok = crc32.ChecksumIEEE(out.Bytes()[start:]) == binary.LittleEndian.Uint32(sum)
	case 4:
		ok = crc64.Checksum(out.Bytes()[start:], crc64.MakeTable(crc64.ECMA)) == binary.LittleEndian.Uint64(sum)
	}
	if !ok {
		return 0, errXZ
	}
	return used + size, nil
}
