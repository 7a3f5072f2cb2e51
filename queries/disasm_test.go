package queries

import (
	"strings"
	"testing"

	"stackmill/queries/storetest"
)

// An instruction is listed once, even if its values are the same in other modes than the values of
// the function's other instructions.
func TestDisasmOfMixedModes(t *testing.T) {
	text := strings.NewReplacer(
		"  4 114 903 5 4240 '' 0 ''\n", "  4 114 903 5 4240 '' 0 ''\n  5 115 903 3 4160 a.c 19 ''\n",
		"  6 totalcpu 2 0 50ms\n", "  6 totalcpu 2 0 50ms\n  7 totalcpu 5 0 9ms\n",
	).Replace(storetest.Two)
	db := open(t, storetest.New(t, text)).DB
	if got := rows(t, db, "SELECT experiment_id, mode, metric, function_id, code_offset FROM disasm GROUP BY ALL HAVING count(*) > 1"); len(got) > 0 {
		t.Errorf("instructions are listed twice: %s", strings.Join(got, ", "))
	}
	if got := rows(t, db, "SELECT mode, inclusive // 1e6 FROM disasm WHERE code_offset = 4160 AND inclusive > 0 ORDER BY ALL"); strings.Join(got, ",") != "expert 9,machine 9,user 9" {
		t.Errorf("values %s", got)
	}
}
