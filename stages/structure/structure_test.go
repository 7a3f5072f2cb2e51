package structure

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/google/go-cmp/cmp"

	"stackmill/schema"
	"stackmill/stages/attribute"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/program"
	"stackmill/stages/stacktree"
)

// store has the rows of one experiment.
type store map[string]arrow.RecordBatch

func (s store) emit(t *schema.Table, rows arrow.RecordBatch) error {
	rows.Retain()
	s[t.Name] = rows
	return nil
}

// tables implements schema.TableReader.
func (s store) tables(t *schema.Table, _, _ int64, columns ...string) schema.RowReader {
	all := s[t.Name]
	if all == nil {
		return &singleBatch{}
	}
	var fields []arrow.Field
	var list []arrow.Array
	for _, c := range columns {
		list = append(list, schema.Events{RecordBatch: all}.Column(c))
		fields = append(fields, arrow.Field{Name: c, Type: list[len(list)-1].DataType(), Nullable: true})
	}
	return &singleBatch{array.NewRecordBatch(arrow.NewSchema(fields, nil), list, all.NumRows())}
}

type singleBatch struct{ rows arrow.RecordBatch }

func (o *singleBatch) Next() (arrow.RecordBatch, error) {
	rows := o.rows
	o.rows = nil
	return rows, nil
}

// with returns a copy of the store in which one row of a column has another value.
func (s store) with(table string, column, row int, value int64) store {
	changed := store{}
	for name, rows := range s {
		changed[name] = rows
	}
	rows := s[table]
	columns := slices.Clone(rows.Columns())
	switch c := columns[column].(type) {
	case *array.Int32:
		values := slices.Clone(c.Int32Values())
		values[row] = int32(value)
		columns[column] = schema.Int32s(values)
	case *array.Int64:
		values := slices.Clone(c.Int64Values())
		values[row] = value
		columns[column] = schema.Int64s(values)
	default:
		return nil
	}
	changed[table] = array.NewRecordBatch(rows.Schema(), columns, rows.NumRows())
	return changed
}

// values returns the rows of values of an experiment, or the error if it is damaged.
func (s store) values() (rows []string, err error) {
	r, err := Read("e", s.tables, true)
	if err == nil {
		err = ReadSums(r, s.tables)
	}
	if err != nil {
		return nil, err
	}
	return valuesOf(r)
}

func valuesOf(r *attribute.Result) (rows []string, err error) {
	err = r.ValueRows(func(t *schema.Table, b arrow.RecordBatch) error {
		for i := range int(b.NumRows()) {
			row := t.Name
			for _, c := range b.Columns() {
				row += " " + c.ValueStr(i)
			}
			rows = append(rows, row)
		}
		return nil
	})
	return rows, err
}

// example is an experiment with calls, an inlined and a recursive function, modes that differ, and
// a metric with negative values.
func example(t *testing.T) *attribute.Result {
	p := program.New()
	total := p.AddObject(program.Object{ID: 1, Name: program.Total, Kind: "artificial"})
	object := p.AddObject(program.Object{ID: 2, Name: "a.out", Path: "/a.out", Kind: "elf"})
	top := p.InternFunction(program.Function{Object: total, Module: p.InternModule(total, "", ""), Name: program.Total}, 0)
	var at []program.LocationNo
	for n := range 4 {
		f := p.InternFunction(program.Function{Object: object, Module: p.InternModule(object, fmt.Sprint("m", n/2), "c"), Name: fmt.Sprint("f", n), Address: uint64(n) * 16, Size: 16}, 0)
		at = append(at, p.InternLocation(f, uint64(n)*16, "", func() funcinfo.Place { return funcinfo.Place{File: "a.c", Line: int32(n)} }))
	}
	p.Inlines = make([][]program.Level, p.Locations.Len())
	p.Inlines[at[1]] = []program.Level{{Function: p.Location(at[3]).Function, Place: funcinfo.Place{File: "a.h", Line: 9}}}
	stacks := attribute.NewStacks()
	add := func(user bool, frames ...int) {
		r := attribute.RecordedStack{}
		for i, n := range frames {
			f := stacktree.NewFrame()
			f.Own, f.Shown = at[n], [stacktree.Modes]program.LocationNo{at[n], at[n], at[n]}
			if !user && i == 0 {
				f.Shown[stacktree.User] = program.None
			}
			r.Node = stacks.Tree.Add(r.Node, &f)
		}
		stacks.Recorded = append(stacks.Recorded, r)
	}
	add(true, 0, 1, 2)
	add(true, 0, 1, 0)
	add(false, 3, 2, 2)
	add(true, 0, 1, 2)
	add(true)
	stacks.Renumber(stacks.OrderNodes(), stacks.OrderFrames(p.Order()))
	sums := attribute.NewSums([]schema.Metric{{Name: "time"}, {Name: "change", Signed: true}})
	for n := range stacks.Recorded {
		sums.At(attribute.RecordedStackNo(n), 0).Add(int64(n + 1))
		sums.At(attribute.RecordedStackNo(n), 1).Add(int64(3 - 2*n))
	}
	return &attribute.Result{ExperimentID: "e", Program: p, Total: top, Stacks: stacks, Sums: sums}
}

func readBack(t *testing.T, r *attribute.Result) store {
	s := store{}
	none := func(*program.Location) (uint64, bool) { return 0, false }
	if err := errors.Join(r.StackRows(s.emit), r.LocationRows(s.emit, none)); err != nil {
		t.Fatal(err)
	}
	return s
}

// The stored program, stacks and sums give the stored values again.
func TestRead(t *testing.T) {
	r := example(t)
	want, err := valuesOf(r)
	if err != nil {
		t.Fatal(err)
	}
	got, err := readBack(t, r).values()
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if _, err := Read("e", store{}.tables, true); !errors.Is(err, ErrNoStacks) {
		t.Errorf("no rows: %v", err)
	}
}

// Without samples, values need no program and no stacks, and are the same.
func TestReadEmpty(t *testing.T) {
	tables := readBack(t, example(t)).tables
	whole, err := Read("e", tables, true)
	if err != nil {
		t.Fatal(err)
	}
	empty, err2 := ReadEmpty("e", tables)
	if err2 != nil {
		t.Fatal(err2)
	}
	want, err := valuesOf(whole)
	got, err2 := valuesOf(empty)
	if diff := cmp.Diff(want, got); len(want) == 0 || errors.Join(err, err2) != nil || diff != "" {
		t.Error(err, err2, diff)
	}
	if _, err := ReadEmpty("e", store{}.tables); !errors.Is(err, ErrNoStacks) {
		t.Errorf("no rows: %v", err)
	}
}

// A dangling reference in any table, row and column is an error. Other changes change values.
func TestDamaged(t *testing.T) {
	s := readBack(t, example(t))
	refused := 0
	for table, rows := range s {
		for column := range int(rows.NumCols()) {
			for row := range int(rows.NumRows()) {
				for _, value := range []int64{math.MinInt32, -2, -1, 0, 1, 3, 1000, math.MaxInt32} {
					damaged := s.with(table, column, row, value)
					if damaged == nil {
						continue
					}
					if _, err := damaged.values(); err != nil {
						refused++
					}
				}
			}
		}
	}
	if refused < 100 {
		t.Errorf("only %d changes were refused", refused)
	}
}
