package verify

import (
	"crypto/md5"
	"encoding/binary"
)

// mask63 keeps 63 bits.
const mask63 = 1<<63 - 1

// pathPart is the macro path_part of the views.
func pathPart(id, place int64) int64 {
	n := (uint64(id) + uint64(place)*7046029254386353131) & mask63
	n = (n ^ n>>31) * 4354685564936845355 & mask63
	n = (n ^ n>>29) * 3202034522624059733 & mask63
	return int64((n ^ n>>32) & mask63)
}

// ruleMark is the hash of a rule's name that the views use in paths of frames; 0 for no rule.
func ruleMark(rule string) int64 {
	if len(rule) == 0 {
		return 0
	}
	sum := md5.Sum([]byte(rule))
	return int64(binary.LittleEndian.Uint64(sum[:8]) >> 1)
}
