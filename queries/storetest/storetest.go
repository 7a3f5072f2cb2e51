// Package storetest makes small stores with known content, for tests of code that reads stores.
package storetest

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/cespare/xxhash/v2"

	"stackmill/schema"
	"stackmill/schema/parquetfile"
	"stackmill/schema/storedir"
	"stackmill/stages/rollup"
)

// Two is a store of two experiments, described in its comments.
//
//go:embed two.txt
var Two string

// Data is a store of one experiment with data objects, described in its comments.
//
//go:embed data.txt
var Data string

// Build writes the store that text describes into dir. The text is a list of tables: a line `TABLE COLUMN...`, then
// the rows, indented, with one field per column; the columns left out are 0, empty or missing, and `listed_in` is
// the batch. A field that ends in `ms` is in milliseconds, two single quotes are an empty text, `null` is missing,
// `~` a blank; a backslash begins an escape as in Go's texts. A column `modes` holds sets of modes (schema.AllModes)
// and fills the columns of all modes. A line `batch ID NAME PATH` starts a batch, `with ID NAME PATH` another
// experiment of it; both may end in a generation. `#` starts a comment.
func Build(dir, text string) error {
	var b *batch
	var table *schema.Table
	var columns []string
	finish := func() error {
		if b == nil {
			return nil
		}
		return b.commit()
	}
	for n, line := range strings.Split(text, "\n") {
		fields := strings.Fields(line)
		var err error
		switch {
		case len(fields) == 0 || fields[0][0] == '#':
		case fields[0] == "batch":
			err = finish()
			b = &batch{dir: dir, rows: map[*schema.Table][]row{}}
			err = errors.Join(err, b.begin(fields[1:]))
		case fields[0] == "with":
			err = b.begin(fields[1:])
		case line[0] != ' ':
			if table, columns = schema.ByName(fields[0]), fields[1:]; table == nil {
				err = fmt.Errorf("no table %s", fields[0])
			}
		default:
			err = b.add(table, columns, fields)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", n+1, err)
		}
	}
	return finish()
}

// New builds a store in a temporary directory.
func New(t testing.TB, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := Build(dir, text); err != nil {
		t.Fatal(err)
	}
	return dir
}

type batch struct {
	dir         string
	experiments []storedir.Entry
	rows        map[*schema.Table][]row
}

// row is a row of an experiment. If the experiments of a batch share it, it is a row of the first
// one.
type row struct {
	id     string
	values []any
}

// begin begins an experiment, given its id, name, path and optional generation.
func (b *batch) begin(fields []string) error {
	if len(fields) != 3 && len(fields) != 4 {
		return fmt.Errorf("%d fields of an experiment", len(fields))
	}
	e := storedir.Entry{ExperimentID: fields[0], Generation: 1, Experiment: unescape(fields[1]), Path: unescape(fields[2]), Status: "complete"}
	var err error
	if len(fields) == 4 {
		e.Generation, err = strconv.Atoi(fields[3])
	}
	b.experiments = append(b.experiments, e)
	return err
}

func (b *batch) add(t *schema.Table, columns, fields []string) error {
	if len(fields) != len(columns) {
		return fmt.Errorf("%s: %d fields for %d columns", t.Name, len(fields), len(columns))
	}
	text := map[string]string{}
	for i, c := range columns {
		if c == "modes" {
			set, err := strconv.Atoi(fields[i])
			if err != nil {
				return fmt.Errorf("%s: modes: %w", t.Name, err)
			}
			for bit, name := range schema.Modes {
				text[name] = strconv.Itoa(set >> bit & 1)
			}
			continue
		}
		t.Index(c)
		text[c] = fields[i]
	}
	first, id := b.experiments[0].ExperimentID, b.experiments[len(b.experiments)-1].ExperimentID
	if t.Links != nil {
		id = first
	}
	r := row{id: id}
	for _, c := range t.Columns[1:] { // without experiment_id
		f, given := text[c.Name]
		if c.Name == schema.ListedIn {
			f = first
		}
		v, err := value(c, f, given)
		if err != nil {
			return fmt.Errorf("%s.%s: %w", t.Name, c.Name, err)
		}
		r.values = append(r.values, v)
	}
	b.rows[t] = append(b.rows[t], r)
	return nil
}

func value(c schema.Column, field string, given bool) (any, error) {
	if field == "null" || !given && c.Null {
		return nil, nil
	}
	if c.Type == schema.String || c.Type == schema.Label {
		return unescape(strings.ReplaceAll(strings.Trim(field, "'"), "~", " ")), nil
	}
	if c.Type == schema.Time {
		at, err := time.Parse(time.RFC3339, field)
		return arrow.Timestamp(at.UnixMicro()), err
	}
	if !given {
		field = "0"
	}
	digits, isMS := strings.CutSuffix(field, "ms")
	n, err := strconv.ParseInt(digits, 10, 64)
	if isMS {
		n *= 1e6
	}
	switch c.Type {
	case schema.Int32:
		return int32(n), err
	case schema.Bool:
		return n != 0, err
	}
	return n, err
}

func unescape(field string) string {
	if !strings.Contains(field, `\`) {
		return field
	}
	text, err := strconv.Unquote(`"` + strings.ReplaceAll(field, `"`, `\"`) + `"`)
	if err != nil {
		panic(fmt.Sprintf("storetest: %s: %v", field, err))
	}
	return text
}

func (b *batch) commit() error {
	c := storedir.Commit{Batch: storedir.BatchName(b.experiments), StoreVersion: schema.StoreVersion, Ingested: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Experiments: b.experiments}
	var values rollup.Collector
	var sums rollup.Sums
	for _, t := range schema.Tables {
		emit := func(to func(*schema.Table, arrow.RecordBatch) error) error { return emitRows(t, b.rows[t], to) }
		switch t {
		case schema.FunctionRollup:
			emit = values.Rows
		case schema.FunctionSums:
			emit = sums.Rows
		}
		var file bytes.Buffer
		w, err := parquetfile.New(&file, t, parquetfile.Quick, storedir.VersionKey, schema.StoreVersion)
		if err != nil {
			return err
		}
		w.SetBatch(c.Batch)
		n := int64(0)
		err = emit(func(_ *schema.Table, rows arrow.RecordBatch) error {
			if n += rows.NumRows(); t == schema.FunctionRollup {
				sums.Add(rows)
			}
			return errors.Join(values.Add(t, rows), w.Write(rows))
		})
		if err := errors.Join(err, w.Close()); err != nil {
			return err
		}
		if n == 0 {
			continue
		}
		data, name := file.Bytes(), storedir.FilePath(t.Name, c.Batch)
		if err := create(filepath.Join(b.dir, name), data); err != nil {
			return err
		}
		footer, err := storedir.FooterChecksum(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return err
		}
		c.Files = append(c.Files, storedir.File{Table: t.Name, Path: name, Rows: n, Bytes: int64(len(data)),
			Checksum: storedir.Checksum(xxhash.Sum64(data)), Footer: footer})
	}
	data, err := c.Encode()
	if err != nil {
		return err
	}
	return create(filepath.Join(b.dir, storedir.CommitsDir, c.Batch+".json"), data)
}

func emitRows(t *schema.Table, rows []row, emit func(*schema.Table, arrow.RecordBatch) error) error {
	for _, r := range rows {
		builder := schema.NewRows(t, r.id, emit)
		builder.Append(r.values...)
		if err := builder.Close(); err != nil {
			return err
		}
	}
	return nil
}

func create(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o644)
}
