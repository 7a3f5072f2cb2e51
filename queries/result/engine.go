//go:build cgo

package result

import (
	"encoding/json"
	"fmt"

	duckdb "github.com/duckdb/duckdb-go/v2"
)

// plainOfEngine converts a value of a type that only the SQL engine has.
func plainOfEngine(v any) any {
	switch v := v.(type) {
	case duckdb.Interval:
		return fmt.Sprintf("P%dM%dDT%gS", v.Months, v.Days, float64(v.Micros)/1e6)
	case duckdb.Decimal:
		return json.Number(v.String())
	case duckdb.OrderedMap:
		out := make(map[string]any, v.Len())
		values := v.Values()
		for i, k := range v.Keys() {
			key := Cell(k, "")
			out[key] = Plain(Exact(values[i], key), "")
		}
		return out
	case duckdb.Union:
		return map[string]any{v.Tag: Plain(Exact(v.Value, v.Tag), "")}
	case json.Marshaler:
		return v
	}
	return fmt.Sprint(v)
}
