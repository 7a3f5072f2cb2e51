package parquetfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"regexp"
	"testing"

	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	parquet "github.com/apache/arrow-go/v18/parquet/schema"

	"stackmill/schema"
)

// pointers matches printed addresses, in place of optional numbers.
var pointers = regexp.MustCompile(`0x[0-9a-f]+`)

// arrow-go reads a footer completely: it writes the same bytes again, and the columns are those
// that it makes from the table.
func TestFooter(t *testing.T) {
	for _, table := range schema.Tables {
		for _, kind := range kinds {
			for _, n := range []int{0, 1, 5000} {
				data, _ := written(t, table, Quick, n, kind)
				size := int(binary.LittleEndian.Uint32(data[len(data)-8:]))
				mine := data[len(data)-8-size : len(data)-8]
				read, err := metadata.NewFileMetaData(mine, nil)
				if err != nil {
					t.Fatalf("%s, %d rows, %s: %v", table.Name, n, kind, err)
				}
				var theirs bytes.Buffer
				if _, err := read.WriteTo(&theirs, nil); err != nil || !bytes.Equal(mine, theirs.Bytes()) {
					t.Errorf("%s, %d rows, %s: arrow-go writes %d bytes of %d otherwise, %v\n%q\n%q", table.Name, n, kind, theirs.Len(), size, err, mine, theirs.Bytes())
				}
				want, err := pqarrow.ToParquet(table.Arrow(), nil, pqarrow.DefaultWriterProps())
				if err != nil {
					t.Fatal(err)
				}
				if got, want := fmt.Sprint(read.FileMetaData.Schema), fmt.Sprint(parquet.ToThrift(want.Root())); pointers.ReplaceAllString(got, "") != pointers.ReplaceAllString(want, "") {
					t.Errorf("%s: columns %s\nwant %s", table.Name, got, want)
				}
			}
		}
	}
}

// The footer's descriptions of columns match their pages.
func TestFooterOfColumns(t *testing.T) {
	for _, kind := range kinds {
		data, _ := written(t, schema.PerfSamples, Quick, 5000, kind)
		f := open(t, data)
		next := int64(len(magic))
		var compressed, size int64
		for i := range schema.PerfSamples.Columns {
			c, err := f.MetaData().RowGroup(0).ColumnChunk(i)
			if err != nil {
				t.Fatal(err)
			}
			at := c.DataPageOffset()
			if c.HasDictionaryPage() {
				at = c.DictionaryPageOffset()
			}
			if at != next || c.NumValues() != 5000 {
				t.Errorf("%s, %s: %d values at %d, want them at %d", kind, c.PathInSchema(), c.NumValues(), at, next)
			}
			next += c.TotalCompressedSize()
			compressed += c.TotalCompressedSize()
			size += c.TotalUncompressedSize()
			pages, err := f.RowGroup(0).GetColumnPageReader(i)
			if err != nil {
				t.Fatal(err)
			}
			for pages.Next() {
				if has := pages.Page().Type().String() == "DICTIONARY_PAGE"; has && !c.HasDictionaryPage() {
					t.Errorf("%s, %s: a dictionary that the footer does not know", kind, c.PathInSchema())
				} else if e := c.Encodings()[0].String(); !has && pages.Page().Encoding().String() != e {
					t.Errorf("%s, %s: a page is %v, the footer says %s", kind, c.PathInSchema(), pages.Page().Encoding(), e)
				}
			}
			if err := pages.Err(); err != nil {
				t.Errorf("%s, %s: %v", kind, c.PathInSchema(), err)
			}
		}
		if g := f.MetaData().RowGroup(0); g.TotalCompressedSize() != compressed || g.TotalByteSize() != size || g.NumRows() != 5000 {
			t.Errorf("%s: the row group has %d rows in %d bytes of %d, want 5000 in %d of %d", kind, g.NumRows(), g.TotalCompressedSize(), g.TotalByteSize(), compressed, size)
		}
	}
}
