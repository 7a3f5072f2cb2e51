package prove

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"stackmill/queries/storetest"
	"stackmill/schema"
	"stackmill/storedir"
	"stackmill/tablefile"
)

// Rows without facts are doubted, and so are facts without their numbers.
func TestMissingFacts(t *testing.T) {
	store := storetest.New(t, "batch 00000000000000aa a.er /a.er\nexperiments experiment status\n  a.er complete\nload_objects load_object_id name\n 9 app\n"+
		"modules module_id load_object_id name\n 3 9 a.c\nfunctions function_no function_id load_object_id module_id name\n  0 70 9 3 f\n  1 71 9 3 g\n")
	look, err := storedir.Look(store)
	if err != nil {
		t.Fatal(err)
	}
	b := &look.Batches[0]
	prove := func() error {
		doubts, err := Batch(t.Context(), store, b, 1<<20, func() {})
		for _, d := range doubts {
			err = errors.Join(err, d.Err)
		}
		return err
	}
	if err := prove(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(store, filepath.FromSlash(b.PathOf(schema.Functions.Facts)))
	for _, test := range []struct {
		numbers []int32
		want    string
	}{
		{[]int32{0}, "there are no such facts: number 1"},
		{[]int32{1, 0}, "function_facts: not numbered"},
	} {
		var file bytes.Buffer
		w, err := tablefile.New(&file, schema.Functions.Facts, tablefile.Quick)
		if err != nil {
			t.Fatal(err)
		}
		rows := schema.NewRows(schema.Functions.Facts, "00000000000000aa", func(_ *schema.Table, rows arrow.RecordBatch) error { return w.Write(rows) })
		for _, n := range test.numbers {
			rows.Append(n, int64(70+n), int64(9), int64(3), "f", nil, nil, nil, nil, "", int64(0), int64(0), int64(0), nil, nil, nil, int32(0), int32(0), "")
		}
		if err := errors.Join(rows.Close(), w.Close(), os.WriteFile(path, file.Bytes(), 0o644)); err != nil {
			t.Fatal(err)
		}
		if err := prove(); err == nil || !bytes.Contains([]byte(err.Error()), []byte(test.want)) {
			t.Errorf("%v: %v, want %s", test.numbers, err, test.want)
		}
	}
}
