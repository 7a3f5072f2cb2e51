package queries

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/queries/storetest"
)

// Two experiments of a batch share lists. The first is ingested again, in a batch that begins
// with it as well and has another list of the same number.
const sharing = `
batch 00000000000000aa a.er /a.er
experiments experiment
  a.er
load_objects load_object_id name
  9 app
functions function_no function_id load_object_id name
  0 70 9 f
  1 71 9 g
listings function_no load_object_id listing
  0 9 0
  1 9 1
instructions listing offset size text
  0 16 1 nop
  0 17 1 retq
  1 32 1 leave
source_files file listing
  x.c 2
source_lines listing line text
  2 1 int~f();
with 00000000000000bb b.er /b.er
experiments experiment
  b.er
functions function_no function_id load_object_id name
  5 70 9 f
listings function_no load_object_id listing
  5 9 0
source_files file listing
  moved/x.c 2
`

const again = `
batch 00000000000000aa a.er /a.er 2
experiments experiment
  a.er
functions function_no function_id load_object_id name
  0 80 9 f
listings function_no load_object_id listing
  0 9 0
instructions listing offset size text
  0 48 1 hlt
`

const other = `
with 00000000000000cc c.er /c.er
experiments experiment
  c.er
functions function_no function_id load_object_id name
  3 80 9 f
listings function_no load_object_id listing
  3 9 0
`

// Each experiment has the rows that it shares, even if the experiment that had them first is
// hidden, or in another batch.
func TestShared(t *testing.T) {
	const instructions, lines = "SELECT experiment_id[15:], function_no, function_id, \"offset\", text FROM instructions_wide ORDER BY ALL",
		"SELECT experiment_id[15:], file, line, text FROM source_lines_wide ORDER BY ALL"
	for _, test := range []struct {
		name, store         string
		instructions, lines []string
	}{
		{"one batch", sharing,
			[]string{"aa 0 70 16 nop", "aa 0 70 17 retq", "aa 1 71 32 leave", "bb 5 70 16 nop", "bb 5 70 17 retq"},
			[]string{"aa x.c 1 int f();", "bb moved/x.c 1 int f();"}},
		{"the first ingested again alone", sharing + again,
			[]string{"aa 0 80 48 hlt", "bb 5 70 16 nop", "bb 5 70 17 retq"},
			[]string{"bb moved/x.c 1 int f();"}},
		{"the first ingested again, with another", sharing + again + other,
			[]string{"aa 0 80 48 hlt", "bb 5 70 16 nop", "bb 5 70 17 retq", "cc 3 80 48 hlt"},
			[]string{"bb moved/x.c 1 int f();"}},
	} {
		db, err := Open(t.Context(), storetest.New(t, test.store))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if diff := cmp.Diff(test.instructions, rows(t, db.DB, instructions)); diff != "" {
			t.Errorf("%s: instructions: %s", test.name, diff)
		}
		if diff := cmp.Diff(test.lines, rows(t, db.DB, lines)); diff != "" {
			t.Errorf("%s: lines: %s", test.name, diff)
		}
	}
}

// Invariants find that a list which an experiment refers to is missing.
func TestLostLists(t *testing.T) {
	for view, change := range map[string][2]string{
		"disasm: listed": {"  5 9 0\n", "  5 9 7\n"},
		"source: found":  {"  moved/x.c 2\n", "  moved/x.c 1\n"},
	} {
		db := open(t, storetest.New(t, strings.Replace(sharing, change[0], change[1], 1)))
		views, err := Views()
		if err != nil {
			t.Fatal(err)
		}
		var broken []string
		for _, v := range views {
			for _, i := range v.Invariants {
				if (i.Name == "listed" || i.Name == "found") && len(rows(t, db.DB, i.SQL)) > 0 {
					broken = append(broken, v.Name+": "+i.Name)
				}
			}
		}
		if diff := cmp.Diff([]string{view}, broken); diff != "" {
			t.Errorf("%q: %s", change, diff)
		}
	}
}
