package replay

import (
	"errors"
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/google/go-cmp/cmp"

	"stackmill/schema"
	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
)

// store has the rows of tables.
type store map[*schema.Table]arrow.RecordBatch

// tables implements Tables.
func (s store) tables(t *schema.Table, from, n int64, columns ...string) schema.RowReader {
	all := s[t]
	if all == nil || from >= all.NumRows() {
		return &once{}
	}
	var fields []arrow.Field
	var list []arrow.Array
	for _, c := range columns {
		list, fields = append(list, schema.Events{RecordBatch: all}.Column(c)), append(fields, arrow.Field{Name: c})
		fields[len(fields)-1].Type = list[len(list)-1].DataType()
	}
	return &once{array.NewRecordBatch(arrow.NewSchema(fields, nil), list, all.NumRows()).NewSlice(from, min(from+n, all.NumRows()))}
}

type once struct{ rows arrow.RecordBatch }

func (o *once) Next() (arrow.RecordBatch, error) {
	rows := o.rows
	o.rows = nil
	return rows, nil
}

// put sets the rows of a table.
func (s store) put(t *testing.T, table *schema.Table, rows ...[]any) {
	t.Helper()
	r := schema.NewRows(table, "0123456789abcdef", func(_ *schema.Table, b arrow.RecordBatch) error {
		b.Retain()
		s[table] = b
		return nil
	})
	for _, row := range rows {
		r.Append(row...)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

// A process survives encoding and decoding, even if names are not valid text. Generated code that
// no stack touches loses its instructions and lines; unused Java methods are left out.
func TestContent(t *testing.T) {
	code := &decode.Code{Function: "f", Bytes: []byte{1, 2}, Lines: []decode.CodeLine{{Offset: 1, Line: 2}}}
	unused := &decode.Code{Function: "g", Bytes: []byte{1, 2}, Method: 7}
	p := &decode.Process{
		Number: 2, Lineage: "_f1", PID: 1 << 40, PPID: 3, Target: "t", Command: "c", Directory: "d", StartNS: -5, DurationNS: 6, Closed: true, Shared: true,
		Kinds:    []decode.KindInfo{{Kind: schema.Heap}},
		Counters: []decode.Counter{{Tag: 1, Name: "cycles", TimeUnit: true, Interval: 9, Trigger: decode.TriggerSkid}},
		Mappings: []decode.MapEvent{
			{Time: 1, Address: 1 << 63, Size: 16, FileOffset: 8, Modes: 5, Checksum: 7, BuildID: "ab", File: decode.FileID{Device: 1, Inode: 1 << 63}, Path: "/bin/\xff"},
			{Time: 2, Address: 1 << 63, Unmap: true},
			{Address: 0x100, Size: 4, Code: code}, {Address: 0x200, Size: 4, Code: unused},
		},
		DataMappings: []decode.MapEvent{{Address: 5, Size: 5, Path: "[stack]"}},
		JITDumps:     []decode.JITDump{{Path: "/jit-1.dump", Until: decode.Never}},
		JavaMethods:  map[uint64]decode.JavaMethod{7: {Name: "m"}, 8: {Name: "n"}, 9: {Name: "o"}},
		JavaThreads:  []decode.JavaThread{{ThreadID: 4, Group: "system", UntilNS: decode.Never}},
		Stacks:       decode.StacksOf(decode.RawStack{Words: []uint64{0x104}, OMPState: -1, Java: []decode.JavaFrame{{Method: 8, BCI: -3}}}),
	}
	rec := &decode.Recording{Format: "gprofng", Host: "h", Kernel: decode.KernelSymbol{Name: "_text", Address: 1 << 63}, Clock: &decode.CompilerClock{Start: 5}, Processes: []*decode.Process{p}}
	found := diagnostic.Problem{Severity: diagnostic.Warning, Reason: "r", Message: "m", Count: 2, Offset: -1}
	lost := diagnostic.Problem{Severity: diagnostic.Error, Reason: Unreadable, Message: "u", Count: 1}
	rec.Problems.Add(found)
	rec.Problems.Add(lost)
	part, err := EncodeProcess(p)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := EncodeRecording(rec, []decode.Form{{Callers: decode.CallersUnwound}}, []diagnostic.Problem{found})
	if err != nil {
		t.Fatal(err)
	}
	s := store{}
	s.put(t, schema.Recordings, []any{int32(0), whole}, []any{int32(2), part})
	r, err := OpenProgram(s.tables)
	if err != nil {
		t.Fatal(err)
	}
	p.Mappings[3].Code = &decode.Code{Function: "g", Method: 7}
	delete(p.JavaMethods, 9)
	got := r.Processes[0]
	p.Stacks, got.Stacks, got.Records = nil, nil, nil
	if d := cmp.Diff(p, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]diagnostic.Problem{found}, r.Problems.Problems); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]diagnostic.Problem{lost}, r.Late); d != "" || !r.Unwound || !r.FromStore || r.Kernel != rec.Kernel || *r.Clock != *rec.Clock {
		t.Error(d, r.Recording)
	}
	s.put(t, schema.Recordings, []any{int32(0), whole})
	if _, err := OpenProgram(s.tables); !errors.Is(err, ErrIncomplete) {
		t.Errorf("without its process: %v", err)
	}
	if _, err := OpenProgram(store{}.tables); !errors.Is(err, ErrIncomplete) {
		t.Errorf("without anything: %v", err)
	}
	s.put(t, schema.Recordings, []any{int32(0), whole}, []any{int32(2), part[:len(part)/2]})
	if _, err := OpenProgram(s.tables); err == nil {
		t.Error("a content that is cut")
	}
}

// Stacks are rebuilt from the tree; a dangling reference is an error.
func TestStacks(t *testing.T) {
	whole, err := EncodeRecording(&decode.Recording{Processes: []*decode.Process{{}}}, []decode.Form{{OMPState: -1, Kernel: 1}, {OMPState: 3, Java: true}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	part, err := EncodeProcess(&decode.Process{Number: 1, Stacks: &decode.Stacks{}})
	if err != nil {
		t.Fatal(err)
	}
	type rows [][]any
	no := []any{nil, "", nil, "", nil, ""}
	frame := func(n int, part string, word, bci any) []any {
		return append([]any{int32(n), part, word, bci, nil}, no...)
	}
	recorded := func(n, node, up int, form any) []any {
		return []any{int32(n), int32(1), nil, int32(node), int32(0), int32(0), int32(0), "", int32(up), form}
	}
	good := rows{recorded(0, 2, 0, int32(0)), recorded(1, 0, 0, nil), recorded(2, 3, 0, int32(1)), recorded(3, 3, 1, int32(1))}
	for _, c := range []struct {
		name     string
		recorded rows
		up       int32
		ok       bool
	}{
		{"whole", good, 1, true},
		{"a node that there is not", rows{recorded(0, 9, 0, int32(0))}, 1, false},
		{"a form that there is not", rows{recorded(0, 2, 0, int32(2))}, 1, false},
		{"a stack before the first", rows{recorded(0, 2, 1, int32(0))}, 1, false},
		{"a circle", good, 0, false},
		{"a caller behind", good, -1, false},
	} {
		s := store{}
		s.put(t, schema.Recordings, []any{int32(0), whole}, []any{int32(1), part})
		s.put(t, schema.TreeFrames, frame(0, "", nil, nil), frame(1, "native", int64(-5), nil), frame(2, "", nil, nil), frame(3, "java", int64(7), int64(-3)))
		s.put(t, schema.StackTree, []any{int32(0), int32(0), int32(3), int32(0)}, []any{int32(1), int32(1), int32(2), int32(1)},
			[]any{int32(2), c.up, int32(0), int32(1)}, []any{int32(3), int32(2), int32(0), int32(3)})
		s.put(t, schema.RecordedStacks, c.recorded...)
		r, err := Open(s.tables)
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
		if err != nil {
			continue
		}
		word := ^uint64(4)
		want := []decode.RawStack{
			{Words: []uint64{word, word}, Kernel: 1, OMPState: -1},
			{Words: []uint64{word}, OMPState: 3, Java: []decode.JavaFrame{{Method: 7, BCI: -3}}},
		}
		if d := cmp.Diff(want, r.Processes[0].Stacks.Expanded()); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

// pieces is a reader of rows in the given batches.
type pieces []arrow.RecordBatch

func (p *pieces) Next() (arrow.RecordBatch, error) {
	if len(*p) == 0 {
		return nil, nil
	}
	first := (*p)[0]
	*p = (*p)[1:]
	return first, nil
}

// take returns any number of rows, in whatever batches they are stored.
func TestSupply(t *testing.T) {
	var p pieces
	var names []string
	for n, size := range []int{3, 1, 4} {
		s := store{}
		var rows [][]any
		for i := range size {
			name := fmt.Sprint("metric ", n, i)
			names = append(names, name)
			rows = append(rows, []any{name, "", "", "", false, false})
		}
		s.put(t, schema.Metrics, rows...)
		p = append(p, s[schema.Metrics])
	}
	s := rowQueue{rows: &p}
	defer s.close()
	var got []string
	for _, n := range []int64{2, 5} {
		c, err := s.take(n)
		if err != nil || c.N != int(n) || c.Batch.NumRows() != n {
			t.Fatalf("%d rows: %v, %v", n, c, err)
		}
		text := c.Texts(1)
		for i := range c.N {
			got = append(got, text(i))
		}
		c.Batch.Release()
	}
	if diff := cmp.Diff(names[:7], got); diff != "" {
		t.Error(diff)
	}
	if _, err := s.take(2); !errors.Is(err, errShort) {
		t.Errorf("more than there are: %v", err)
	}
}
