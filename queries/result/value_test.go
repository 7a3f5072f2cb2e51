//go:build cgo

package result

import (
	"database/sql"
	"stackmill/internal/terminal"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"
)

// Values inside of lists, structures, maps and unions become JSON like others: no reader rounds ids
// or large numbers, and a value that JSON cannot hold does not spoil its neighbors.
func TestNested(t *testing.T) {
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for expression, want := range map[string]string{
		"[9007199254740993, 5]": `["9007199254740993",5]`,
		"{'function_id': 7::BIGINT, 'n': 7, 'u': 18446744073709551615::UBIGINT}": `{"function_id":"7","n":7,"u":"18446744073709551615"}`,
		"[{'h': 170141183460469231731687303715884105727::HUGEINT}]":              `[{"h":"170141183460469231731687303715884105727"}]`,
		"MAP {'a': 'nan'::DOUBLE, 'b': 2.0::DOUBLE}":                             `{"a":null,"b":2}`,
		"MAP {1: ['\\xFF'::BLOB]}":                                               `{"1":["ff"]}`,
		"MAP {'stack_id': 9007199254740993}":                                     `{"stack_id":"9007199254740993"}`,
		"[MAP {'a': MAP {'b': 9007199254740993}}]":                               `[{"a":{"b":"9007199254740993"}}]`,
		"union_value(k := 9007199254740993)":                                     `{"k":"9007199254740993"}`,
		"histogram(x) FROM range(2) t(x)":                                        `{"0":1,"1":1}`,
	} {
		var v any
		if err := db.QueryRowContext(t.Context(), "SELECT "+expression).Scan(&v); err != nil {
			t.Fatal(expression, err)
		}
		if got := string(terminal.MarshalJSON(Plain(v, ""))); got != want {
			t.Errorf("%s: %s, want %s", expression, got, want)
		}
		if got := Cell(v, ""); got != want {
			t.Errorf("%s: in a table %s, want %s", expression, got, want)
		}
	}
}
