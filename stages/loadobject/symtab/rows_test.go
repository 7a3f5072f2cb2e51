package symtab

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"stackmill/stages/loadobject/columns"
)

const testFiles, testCalls = 3, 5

// drawRows returns rows as in debug information: none, or up to five blocks.
func drawRows(t *rapid.T, calls bool) []Row {
	var list []Row
	offset := uint64(0)
	for range rapid.IntRange(0, 5*blockRows).Draw(t, "rows") {
		offset += rapid.Uint64Range(1, 1<<20).Draw(t, "distance")
		row := Row{Offset: offset, File: rapid.Int32Range(-1, testFiles-1).Draw(t, "file"), Line: rapid.Int32Min(0).Draw(t, "line")}
		if rapid.IntRange(0, 9).Draw(t, "discriminated") == 0 {
			row.Discriminator = rapid.Int32Min(1).Draw(t, "discriminator")
		}
		if calls {
			row.Call = rapid.Int32Range(-1, testCalls-1).Draw(t, "call")
		}
		list = append(list, row)
	}
	return list
}

// written returns rows after writing and reading them.
func written(rows Rows, calls int) Rows {
	w := columns.NewWriter()
	rows.Write(w, calls >= 0)
	return ReadRows(columns.NewReader(w.Append(nil)), testFiles, calls)
}

// Rows from a list and from a file equal the input, in whatever order they are looked up.
func TestRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		calls := rapid.SampledFrom([]int{-1, testCalls}).Draw(t, "calls")
		list := drawRows(t, calls >= 0)
		made := RowsOf(list)
		for what, rows := range map[string]Rows{"made": made, "read": written(made, calls), "read again": written(written(made, calls), calls)} {
			for range 20 {
				offset := rapid.Uint64().Draw(t, "offset")
				if len(list) > 0 {
					offset = rapid.SampledFrom(list).Draw(t, "row").Offset + offset%3 - 1
				}
				want := -1
				for i, row := range list {
					if row.Offset <= offset {
						want = i
					}
				}
				if got := rows.Before(offset); got != want {
					t.Fatalf("%s: row %d is before %d, want %d", what, got, offset, want)
				}
			}
			if d := cmp.Diff(list, slices.Collect(rows.From(0))); d != "" || rows.Len() != len(list) {
				t.Fatalf("%s: (-want +got)\n%s", what, d)
			}
		}
	})
}

// A lookup decodes only one block of a file.
func TestRowsAreReadWhenAskedFor(t *testing.T) {
	var list []Row
	for i := range 10 * blockRows {
		list = append(list, Row{Offset: uint64(i)})
	}
	rows := written(RowsOf(list), -1)
	rows.Before(3*blockRows + 7)
	for i := range rows.blocks {
		if known := rows.blocks[i].Load() != nil; known != (i == 3) {
			t.Errorf("block %d: read %t", i, known)
		}
	}
}

// Forged blocks never refer to files or calls that do not exist.
func TestForgedRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const n = blockRows
		rows := newRows(n)
		rows.encoded = encodedRows{[][]byte{rapid.SliceOf(rapid.Byte()).Draw(t, "block")}, testFiles, testCalls}
		rows.Before(rapid.Uint64().Draw(t, "offset"))
		for row := range rows.From(0) {
			if row.File < -1 || row.File >= testFiles || row.Call < -1 || row.Call >= testCalls || row.Discriminator < 0 {
				t.Fatalf("%+v", row)
			}
		}
	})
}
