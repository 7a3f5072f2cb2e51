package result

import (
	"math/big"
	"strconv"
	"strings"
)

// exactIn53 is the largest number below which readers of JSON that know fractions only,
// such as JavaScript, have every whole number.
const exactIn53 = 1 << 53

// isIdentifier reports whether a column holds identifiers, hashes of 64 bits: texts in
// JSON. Kernels number threads; these are small.
func isIdentifier(column string) bool {
	return (strings.HasSuffix(column, "_id") || strings.HasSuffix(column, "_key")) && column != "thread_id"
}

// Exact returns a value for JSON as every reader understands it: identifiers are texts,
// and so are other whole numbers that some would round.
func Exact(v any, column string) any {
	switch n := v.(type) {
	case int64:
		if isIdentifier(column) || n > exactIn53 || n < -exactIn53 {
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
