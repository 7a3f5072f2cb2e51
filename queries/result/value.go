package result

import (
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"stackmill/internal/terminal"
)

// Plain converts a value to one that JSON can represent. Numbers in lists and objects stay exact.
func Plain(v any, kind string) any {
	switch v := v.(type) {
	case time.Time:
		switch kind {
		case "DATE":
			return v.Format(time.DateOnly)
		case "TIME":
			return v.Format("15:04:05.999999")
		}
		return v.Format(time.RFC3339Nano)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
	case float32:
		return Plain(float64(v), kind)
	case []byte:
		if kind == "UUID" && len(v) == 16 {
			return fmt.Sprintf("%x-%x-%x-%x-%x", v[:4], v[4:6], v[6:8], v[8:10], v[10:])
		}
		return hex.EncodeToString(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = Plain(Exact(v[i], ""), "")
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k := range v {
			out[k] = Plain(Exact(v[k], k), "")
		}
		return out
	case nil, bool, string, int8, int16, int32, int64, uint8, uint16, uint32, uint64:
	default:
		return plainOfEngine(v)
	}
	return v
}

// Cell formats a value for people and CSV; NULL is empty.
func Cell(v any, kind string) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return floating(v)
	}
	switch p := Plain(v, kind).(type) {
	case string:
		return p
	case []any, map[string]any:
		return string(terminal.MarshalJSON(p))
	default:
		return fmt.Sprint(p)
	}
}

// floating formats a number as JSON does: with an exponent only if the number is very small or
// large.
func floating(v float64) string {
	format := byte('f')
	if a := math.Abs(v); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'g'
	}
	return strconv.FormatFloat(v, format, -1, 64)
}

// exactIn53 is the number up to which float64 represents all integers. Some JSON readers, such as
// JavaScript, have no other numbers.
const exactIn53 = 1 << 53

// IsIdentifier reports whether a column holds ids that are hashes of 64 bits, unlike thread ids,
// which are small numbers.
func IsIdentifier(column string) bool {
	return (strings.HasSuffix(column, "_id") || strings.HasSuffix(column, "_key")) && column != "thread_id"
}

// Exact returns a value that all JSON readers keep exactly: it converts ids, and integers that some
// readers would round, to texts.
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
