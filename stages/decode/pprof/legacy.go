package pprof

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
)

// legacyTexts are how the formats in text begin that pprof had before profile.proto.
var legacyTexts = [][]byte{
	[]byte("heap profile: "), []byte("goroutine profile: total "), []byte("threadcreate profile: total "),
	[]byte("--- contention"), []byte("--- mutex"), []byte("--- heap"), []byte("--- threadz"), []byte("--- growth"), []byte("--- Memory map: ---"),
}

// errLegacy says why profiles of the older formats are not read: they have addresses only,
// which pprof looks up in the program.
var errLegacy = errors.New("it is in a format that pprof had before profile.proto, as gperftools writes: `go tool pprof -proto PROGRAM FILE > FILE.pb.gz` makes a profile with names of it, which can be read")

// isLegacy reports whether a file begins like a profile in such a format.
func isLegacy(head []byte) bool {
	if slices.ContainsFunc(legacyTexts, func(t []byte) bool { return bytes.HasPrefix(head, t) }) {
		return true
	}
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		if isLegacyCPU(head, 8, order.Uint64) || isLegacyCPU(head, 4, func(b []byte) uint64 { return uint64(order.Uint32(b)) }) {
			return true
		}
	}
	return false
}

// isLegacyCPU reports whether a file begins with the words of gperftools' CPU profiles: 0,
// the number of words that follow, the version, the period, 0.
func isLegacyCPU(head []byte, size int, word func([]byte) uint64) bool {
	if len(head) < 5*size {
		return false
	}
	at := func(n int) uint64 { return word(head[n*size:]) }
	return at(0) == 0 && at(1) == 3 && at(2) == 0 && at(3) > 0 && at(3) < 1e9 && at(4) == 0
}
