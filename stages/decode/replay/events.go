package replay

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

// sampleRun is a run of successive samples of one process and kind.
type sampleRun struct {
	process          int32
	kind             string
	first, ofKind, n int64 // first: index of the first sample among all samples; ofKind: among those of the kind
}

// indexSamples finds the samples of each process, and sets the processes' Events.
func (r *Recording) indexSamples(tables schema.TableReader, raw []int32) error {
	var shares []sampleRun
	ofKind, sample := map[string]int64{}, int64(0)
	err := schema.EachBatch(tables(schema.Samples, 0, schema.AllRows, "process", "kind"), func(c *schema.Columns) error {
		processes, kinds := c.Int32s(0), c.Texts(1)
		for i := range c.N {
			kind := kinds(i)
			if last := len(shares) - 1; last < 0 || shares[last].process != processes[i] || shares[last].kind != kind {
				shares = append(shares, sampleRun{process: processes[i], kind: kind, first: sample, ofKind: ofKind[kind]})
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
	groups := map[string]int32{}
	for i, name := range slices.Backward(r.CGroups) {
		groups[name] = int32(i)
	}
	for _, p := range r.Processes {
		own := slices.DeleteFunc(slices.Clone(shares), func(s sampleRun) bool { return int(s.process) != p.Number })
		p.Events = func(k schema.Kind, _ ...string) decode.EventReader {
			i := slices.IndexFunc(own, func(s sampleRun) bool { return s.kind == k.String() })
			if i < 0 {
				return &eventReader{}
			}
			return newEventReader(tables, p, k, own[i], raw, groups)
		}
	}
	return nil
}

// eventReader reads the events of a run. The zero value has no events.
type eventReader struct {
	kind    schema.Kind
	share   sampleRun
	samples rowQueue // the columns that all kinds have
	own     rowQueue // the kind's own columns
	columns []string
	tags    map[string]int32 // name of a counter or event -> Counter.Tag
	groups  map[string]int32 // path of a control group -> index in CGroups
	raw     []int32          // recorded_stacks.stack -> number in Process.Stacks, -1 if there is none
	passed  int64
}

// newEventReader returns a reader of a run's events.
func newEventReader(tables schema.TableReader, p *decode.Process, k schema.Kind, s sampleRun, raw []int32, groups map[string]int32) *eventReader {
	t := k.Traits().Table
	e := &eventReader{kind: k, share: s, raw: raw, tags: map[string]int32{}, groups: groups}
	for _, c := range t.Columns[t.Index("sample"):] {
		e.columns = append(e.columns, c.Name)
	}
	for _, c := range slices.Backward(p.Counters) {
		e.tags[c.Name] = int32(c.Tag)
	}
	e.samples.rows = tables(schema.Samples, s.first, s.n, "time_ns", "thread_id", "cpu", "stack", "name_no", "cgroup")
	e.own.rows = tables(t, s.ofKind, s.n, e.columns...)
	return e
}

// errShort reports that the tables of samples differ in their rows.
var errShort = errors.New("the tables of samples do not have the same rows")

// Next implements decode.EventReader. Batches are as large as the decoder's, however the rows are
// stored: later stages number things in the order in which batches contain them.
func (e *eventReader) Next() (arrow.RecordBatch, error) {
	n := min(e.share.n-e.passed, schema.BatchRows)
	if n == 0 {
		return nil, nil
	}
	a, err := e.samples.take(n)
	if err != nil {
		return nil, err
	}
	defer a.Batch.Release()
	b, err := e.own.take(n)
	if err != nil {
		return nil, err
	}
	defer b.Batch.Release()
	if numbers := b.Int64s(0); numbers[0] != e.share.first+e.passed {
		return nil, errShort
	}
	e.passed += n
	batch, err := e.batch(a, b)
	return batch, errors.Join(err, a.Err, b.Err)
}

// rowQueue returns rows in batches of any size.
type rowQueue struct {
	rows schema.RowReader
	rest arrow.RecordBatch // unread rows of the last batch; nil if there are none
}

// take returns the next n rows.
func (s *rowQueue) take(n int64) (*schema.Columns, error) {
	var parts []arrow.RecordBatch
	defer func() {
		for _, p := range parts {
			p.Release()
		}
	}()
	for missing := n; missing > 0; {
		if s.rest == nil {
			var err error
			if s.rest, err = s.rows.Next(); err != nil {
				return nil, err
			} else if s.rest == nil {
				return nil, errShort
			}
		}
		now := min(missing, s.rest.NumRows())
		parts = append(parts, s.rest.NewSlice(0, now))
		rest := s.rest.NewSlice(now, s.rest.NumRows())
		s.close()
		if missing -= now; rest.NumRows() > 0 {
			s.rest = rest
		} else {
			rest.Release()
		}
	}
	rows, err := concatenate(parts)
	return &schema.Columns{N: int(n), Batch: rows}, err
}

// close releases the unread rows.
func (s *rowQueue) close() {
	if s.rest != nil {
		s.rest.Release()
		s.rest = nil
	}
}

// concatenate returns the rows of batches as one batch.
func concatenate(parts []arrow.RecordBatch) (arrow.RecordBatch, error) {
	if len(parts) == 1 {
		return parts[0].NewSlice(0, parts[0].NumRows()), nil
	}
	var list []arrow.Array
	for i := range parts[0].Columns() {
		var same []arrow.Array
		for _, p := range parts {
			same = append(same, p.Column(i))
		}
		a, err := array.Concatenate(same, memory.DefaultAllocator)
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return decode.NewBatch(parts[0].Schema(), list), nil
}

// Close implements decode.EventReader.
func (e *eventReader) Close() {
	e.samples.close()
	e.own.close()
}

// batch makes events from rows of the table samples and of the kind's own table.
func (e *eventReader) batch(samples, own *schema.Columns) (arrow.RecordBatch, error) {
	times := samples.Int64s(0)
	stacks, err := e.stacks(samples.Int32s(3))
	if err != nil {
		return nil, err
	}
	fields := schema.EventSchema(e.kind).Fields()
	list := []arrow.Array{schema.Int64s(times), schema.Int64s(samples.Int64s(1)), schema.Int32s(samples.Int32s(2)), schema.Int32s(stacks), schema.Int32s(samples.Int32s(4)), schema.Int32s(e.cgroups(samples))}
	for _, f := range fields[schema.EventPayloadStart:] {
		list = append(list, e.column(f, own, times))
	}
	if e.kind == schema.IO {
		fields = append(slices.Clip(fields), arrow.Field{Name: "file", Type: arrow.PrimitiveTypes.Int32})
		list = append(list, schema.Int32s(own.Int32s(e.columnIndex("file"))))
	}
	return decode.NewBatch(arrow.NewSchema(fields, nil), list), nil
}

func (e *eventReader) stacks(recorded []int32) ([]int32, error) {
	stacks := make([]int32, len(recorded))
	for i, n := range recorded {
		if n < 0 || int(n) >= len(e.raw) {
			return nil, fmt.Errorf("table samples: there is no recorded stack %d", n)
		}
		stacks[i] = e.raw[n]
	}
	return stacks, nil
}

// cgroups returns an index in CGroups for each sample; -1 if it has no control group.
func (e *eventReader) cgroups(samples *schema.Columns) []int32 {
	const column = 5
	numbers, name := slices.Repeat([]int32{-1}, samples.N), samples.Texts(column)
	for i := range numbers {
		if len(e.groups) > 0 && samples.Has(column, i) {
			numbers[i] = e.groups[name(i)]
		}
	}
	return numbers
}

// columnIndex returns the index of a column in the kind's table, -1 if the table lacks it.
func (e *eventReader) columnIndex(name string) int { return slices.Index(e.columns, name) }

// column makes an event column from a column of the kind's table.
func (e *eventReader) column(f arrow.Field, own *schema.Columns, times []int64) arrow.Array {
	switch f.Name {
	case e.kind.Traits().Source:
		return e.sources(own.Texts(e.columnIndex(f.Name)), own.N)
	case "ticks":
		return schema.Int64s(own.Int64s(e.columnIndex("duration_ns")))
	case "period":
		return schema.Int64s(own.Int64s(e.columnIndex("value")))
	case "requested_ns":
		return requested(times, own.Int64s(e.columnIndex("duration_ns")))
	}
	at := e.columnIndex(f.Name)
	switch {
	case at < 0 && f.Type == arrow.BinaryTypes.String:
		return texts(func(int) string { return "" }, own.N)
	case at < 0 && f.Type == arrow.PrimitiveTypes.Int64: // such as the offset by which a decoder finds a sample's fields
		return schema.Int64s(slices.Repeat([]int64{-1}, own.N))
	case at < 0:
		return schema.Int32s(make([]int32, own.N))
	case f.Type == arrow.BinaryTypes.String:
		return texts(own.Texts(at), own.N)
	case f.Type == arrow.PrimitiveTypes.Int32:
		return schema.Int32s(own.Int32s(at))
	}
	return schema.Int64s(orMinusOne(own, at))
}

// texts makes a string column of n rows.
func texts(text func(row int) string, n int) arrow.Array {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	for i := range n {
		b.Append(text(i))
	}
	return b.NewArray()
}

// sources returns the tag of the counter or event for each row. An unknown name gets a tag that no
// counter has.
func (e *eventReader) sources(name func(int) string, n int) arrow.Array {
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

// requested computes the times at which calls began, from their ends and durations.
func requested(times, durations []int64) arrow.Array {
	list := make([]int64, len(times))
	for i, d := range durations {
		if d != 0 {
			list[i] = times[i] - d
		}
	}
	return schema.Int64s(list)
}

// orMinusOne returns the values of a column, -1 for NULL.
func orMinusOne(c *schema.Columns, i int) []int64 {
	values := c.Int64s(i)
	if c.Batch.Column(i).NullN() == 0 {
		return values
	}
	values = slices.Clone(values)
	for row := range values {
		if !c.Has(i, row) {
			values[row] = -1
		}
	}
	return values
}
