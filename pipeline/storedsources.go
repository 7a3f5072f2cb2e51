package pipeline

import (
	"time"

	"stackmill/schema"
	"stackmill/stages/symbolize/source"
)

// storedSources are the texts of an experiment's source files from the store. The files at the
// recorded paths may have changed since the recording, so these texts are preferred.
type storedSources struct {
	lines map[string][]string
	stale map[string]bool // reported as changed after the recording
}

// listingKey identifies a listing of a batch.
type listingKey struct {
	in     string
	number int32
}

func readSources(s *batchReader, id string) (*storedSources, error) {
	k := &storedSources{map[string][]string{}, map[string]bool{}}
	tables, files := s.tables(id), map[listingKey][]string{}
	err := eachOf(tables, schema.SourceFiles, func(rows schema.Events) {
		names, in, numbers := textsOf(rows, "file"), textsOf(rows, schema.ListedIn), rows.Int32s("listing")
		for i, n := range numbers {
			l := listingKey{in(i), n}
			files[l] = append(files[l], names(i))
		}
	}, "file", schema.ListedIn, "listing")
	if err != nil {
		return nil, err
	}
	for in := range firsts(files) {
		err := eachOf(s.tables(in), schema.SourceLines, func(rows schema.Events) {
			numbers, texts := rows.Int32s("listing"), textsOf(rows, "text")
			for i, n := range numbers {
				for _, file := range files[listingKey{in, n}] {
					k.lines[file] = append(k.lines[file], texts(i))
				}
			}
		}, "listing", "text")
		if err != nil {
			return nil, err
		}
	}
	err = eachOf(tables, schema.Problems, func(rows schema.Events) {
		files, reasons := textsOf(rows, "file"), textsOf(rows, "reason")
		for i := range int(rows.NumRows()) {
			if reasons(i) == "stale-source" {
				k.stale[files(i)] = true
			}
		}
	}, "file", "reason")
	return k, err
}

// firsts returns the experiments that hold the listings: usually one.
func firsts(files map[listingKey][]string) map[string]bool {
	in := map[string]bool{}
	for l := range files {
		in[l.in] = true
	}
	return in
}

// eachOf passes all rows of a table to f, batch by batch.
func eachOf(tables schema.TableReader, t *schema.Table, f func(schema.Events), columns ...string) error {
	return schema.EachBatch(tables(t, 0, schema.AllRows, columns...), func(c *schema.Columns) error {
		f(schema.Events{RecordBatch: c.Batch})
		return nil
	})
}

// text returns the stored text of a file; nil if there is none. If the experiment has the problem
// stale-source for the file, the text is marked as modified after the recording again.
func (s *storedSources) text(path string, began time.Time) *source.Text {
	if s == nil || s.lines[path] == nil {
		return nil
	}
	t := source.NewText(path, s.lines[path])
	if s.stale[path] {
		t.Recorded, t.Modified = true, began.Add(1)
	}
	return t
}
