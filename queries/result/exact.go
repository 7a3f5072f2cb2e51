package result

import (
	"math/big"
	"strconv"
	"strings"
)

// exactIn53 is the largest number up to which float64, the only number of some JSON readers such as
// JavaScript, represents all integers.
const exactIn53 = 1 << 53

// IsIdentifier reports whether a column holds ids, which are hashes of 64 bits. Thread ids are
// small numbers.
func IsIdentifier(column string) bool {
	return (strings.HasSuffix(column, "_id") || strings.HasSuffix(column, "_key")) && column != "thread_id"
}

// Exact returns a value that all JSON readers keep exactly: ids and integers that some would round
// become texts.
func Exact(v any, column string) any {
	switch n := v.(type) {
	case int64:
		if IsIdentifier(column) || n > exactIn53 || n < -exactIn53 {
			return strconv.FormatInt(n, 10)
		}
	case uint64:
		if n > exactIn53 {
			return strconv.FormatUint(n, 10)
		}
	case *big.Int:
		if n != nil && (!n.IsInt64() || Exact(n.Int64(), column) != any(n.Int64())) {
			return n.String()
		}
	}
	return v
}
