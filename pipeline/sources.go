package pipeline

import (
	"time"

	"stackmill/schema"
	"stackmill/stages/decode/kept"
	"stackmill/stages/symbolize/source"
)

// keptSources are the texts of source files that the store has of an experiment: they are
// nearer to what was recorded than what is at their paths now.
type keptSources struct {
	lines map[string][]string
	stale map[string]bool // changed after the recording, as was said
}

func readSources(tables kept.Tables) (*keptSources, error) {
	s := &keptSources{map[string][]string{}, map[string]bool{}}
	err := eachOf(tables, schema.SourceLines, func(rows schema.Events) {
		files, texts := textsOf(rows, "file"), textsOf(rows, "text")
		for i := range int(rows.NumRows()) {
			s.lines[files(i)] = append(s.lines[files(i)], texts(i))
		}
	}, "file", "text")
	if err != nil {
		return nil, err
	}
	err = eachOf(tables, schema.Problems, func(rows schema.Events) {
		files, reasons := textsOf(rows, "file"), textsOf(rows, "reason")
		for i := range int(rows.NumRows()) {
			if reasons(i) == "stale-source" {
				s.stale[files(i)] = true
			}
		}
	}, "file", "reason")
	return s, err
}

// eachOf passes the rows of a table.
func eachOf(tables kept.Tables, t *schema.Table, f func(schema.Events), columns ...string) error {
	rows := tables(t, 0, 1<<62, columns...)
	for {
		b, err := rows.Next()
		if b == nil || err != nil {
			return err
		}
		f(schema.Events{RecordBatch: b})
		b.Release()
	}
}

// text returns the text of a file, nil if the store has none. One that was said to have
// changed after the recording is said to be so again.
func (s *keptSources) text(path string, started time.Time) *source.Text {
	if s == nil || s.lines[path] == nil {
		return nil
	}
	t := &source.Text{Path: path, Lines: s.lines[path]}
	if s.stale[path] {
		t.Recorded, t.Modified = true, started.Add(1)
	}
	return t
}
