package kept

import (
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"stackmill/schema"
	"stackmill/stages/decode"
)

// share is the samples of a process and kind, which follow each other.
type share struct {
	process          int32
	kind             string
	first, ofKind, n int64 // the first one's number among all, and among those of the kind
}

// index finds each process's samples, and gives them its events.
func (r *Recording) index(tables Tables, raw []int32) error {
	var shares []share
	ofKind, sample := map[string]int64{}, int64(0)
	err := each(tables(schema.Samples, 0, all, "process", "kind"), func(c *columns) error {
		processes, kinds := c.int32s(0), c.texts(1)
		for i := range c.n {
			kind := kinds(i)
			if last := len(shares) - 1; last < 0 || shares[last].process != processes[i] || shares[last].kind != kind {
				shares = append(shares, share{process: processes[i], kind: kind, first: sample, ofKind: ofKind[kind]})
			}
			shares[len(shares)-1].n++
			ofKind[kind]++
			sample++
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, p := range r.Processes {
		own := slices.DeleteFunc(slices.Clone(shares), func(s share) bool { return int(s.process) != p.Number })
		p.Events = func(k schema.Kind, _ ...string) decode.EventReader {
			i := slices.IndexFunc(own, func(s share) bool { return s.kind == k.String() })
			if i < 0 {
				return &events{}
			}
			return newEvents(tables, p, k, own[i], raw)
		}
	}
	return nil
}

// events are the events of a share. Without one there are none.
type events struct {
	kind    schema.Kind
	share   share
	samples Rows // the columns that all kinds have
	own     Rows // those of the kind
	columns []string
	tags    map[string]int32 // of counters, by name
	raw     []int32          // by recorded stack

	a, b   *columns // of samples and own, what is left of them
	passed int64
}

// newEvents returns the reader of a share's events.
func newEvents(tables Tables, p *decode.Process, k schema.Kind, s share, raw []int32) *events {
	t := k.Traits().Table
	e := &events{kind: k, share: s, raw: raw, tags: map[string]int32{}}
	for _, c := range t.Columns[t.Index("sample"):] {
		e.columns = append(e.columns, c.Name)
	}
	for _, c := range slices.Backward(p.Counters) {
		e.tags[c.Name] = int32(c.Tag)
	}
	e.samples = tables(schema.Samples, s.first, s.n, "time_ns", "thread_id", "cpu", "stack")
	e.own = tables(t, s.ofKind, s.n, e.columns...)
	return e
}

// errShort says that tables do not have the same samples.
var errShort = errors.New("the tables of samples do not have the same rows")

// Next implements decode.EventReader.
func (e *events) Next() (arrow.RecordBatch, error) {
	if e.samples == nil || e.passed == e.share.n {
		return nil, nil
	}
	if err := errors.Join(refill(&e.a, e.samples), refill(&e.b, e.own)); err != nil {
		return nil, err
	}
	if e.a == nil || e.b == nil {
		return nil, errShort
	}
	n := min(e.a.n, e.b.n, schema.BatchRows)
	a, b := e.a.take(n), e.b.take(n)
	defer a.rows.Release()
	defer b.rows.Release()
	if numbers := b.int64s(0); numbers[0] != e.share.first+e.passed {
		return nil, errShort
	}
	e.passed += int64(n)
	batch, err := e.batch(a, b)
	return batch, errors.Join(err, a.err, b.err)
}

// refill gets the next rows if there are none left.
func refill(c **columns, rows Rows) error {
	if *c != nil && (*c).n > 0 {
		return nil
	}
	if *c != nil {
		(*c).rows.Release()
		*c = nil
	}
	b, err := rows.Next()
	if b == nil || err != nil {
		return err
	}
	*c = &columns{n: int(b.NumRows()), rows: b}
	return nil
}

// take returns the first n rows of those that are left, and leaves the others.
func (c *columns) take(n int) *columns {
	first := c.rows.NewSlice(0, int64(n))
	rest := c.rows.NewSlice(int64(n), int64(c.n))
	c.rows.Release()
	c.rows, c.n = rest, c.n-n
	return &columns{n: n, rows: first}
}

// Close implements decode.EventReader.
func (e *events) Close() {
	for _, c := range []*columns{e.a, e.b} {
		if c != nil {
			c.rows.Release()
		}
	}
	e.a, e.b = nil, nil
}

// batch makes events of rows.
func (e *events) batch(samples, own *columns) (arrow.RecordBatch, error) {
	times := samples.int64s(0)
	stacks, err := e.stacks(samples.int32s(3))
	if err != nil {
		return nil, err
	}
	fields := schema.EventSchema(e.kind).Fields()
	list := []arrow.Array{schema.Int64s(times), schema.Int64s(samples.int64s(1)), schema.Int32s(samples.int32s(2)), schema.Int32s(stacks)}
	for _, f := range fields[schema.EventPayloadStart:] {
		list = append(list, e.column(f, own, times))
	}
	if e.kind == schema.IO {
		fields = append(slices.Clip(fields), arrow.Field{Name: "file", Type: arrow.PrimitiveTypes.Int32})
		list = append(list, schema.Int32s(own.int32s(e.place("file"))))
	}
	defer func() {
		for _, a := range list {
			a.Release()
		}
	}()
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), list, int64(own.n)), nil
}

func (e *events) stacks(recorded []int32) ([]int32, error) {
	stacks := make([]int32, len(recorded))
	for i, n := range recorded {
		if n < 0 || int(n) >= len(e.raw) {
			return nil, fmt.Errorf("table samples: there is no recorded stack %d", n)
		}
		stacks[i] = e.raw[n]
	}
	return stacks, nil
}

// place is the place of a column among those of the kind, -1 if the kind's table has not
// got it.
func (e *events) place(name string) int { return slices.Index(e.columns, name) }

// column makes a column of events of those of the kind's table.
func (e *events) column(f arrow.Field, own *columns, times []int64) arrow.Array {
	switch f.Name {
	case e.kind.Traits().Source:
		return e.sources(own.texts(e.place(f.Name)), own.n)
	case "ticks":
		return schema.Int64s(own.int64s(e.place("duration_ns")))
	case "period":
		return schema.Int64s(own.int64s(e.place("value")))
	case "requested_ns":
		return requested(times, own.int64s(e.place("duration_ns")))
	}
	at := e.place(f.Name)
	switch {
	case at < 0 && f.Type == arrow.BinaryTypes.String:
		return texts(func(int) string { return "" }, own.n)
	case at < 0:
		return schema.Int32s(make([]int32, own.n))
	case f.Type == arrow.BinaryTypes.String:
		return texts(own.texts(at), own.n)
	case f.Type == arrow.PrimitiveTypes.Int32:
		return schema.Int32s(own.int32s(at))
	}
	return schema.Int64s(own.orMinus(at))
}

// texts makes a column of texts by row.
func texts(text func(row int) string, n int) arrow.Array {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	for i := range n {
		b.Append(text(i))
	}
	return b.NewArray()
}

// sources returns the tags of counters or events. One that is not known has none.
func (e *events) sources(name func(int) string, n int) arrow.Array {
	const unknown = -1 << 31
	tags := make([]int32, n)
	for i := range tags {
		var ok bool
		if tags[i], ok = e.tags[name(i)]; !ok {
			tags[i] = unknown
		}
	}
	return schema.Int32s(tags)
}

// requested returns when calls began, of which times are the ends.
func requested(times, durations []int64) arrow.Array {
	list := make([]int64, len(times))
	for i, d := range durations {
		if d != 0 {
			list[i] = times[i] - d
		}
	}
	return schema.Int64s(list)
}

// orMinus returns the values of a column, -1 for those that are missing.
func (c *columns) orMinus(i int) []int64 {
	values := c.int64s(i)
	if c.rows.Column(i).NullN() == 0 {
		return values
	}
	values = slices.Clone(values)
	for row := range values {
		if !c.has(i, row) {
			values[row] = -1
		}
	}
	return values
}
