package pipeline

import (
	"cmp"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"stackmill/schema"
	"stackmill/stages/decode"
	"stackmill/stages/program"
)

// LoadObject describes the symbols that an experiment has for a load object, or for several with
// the same path and checksum.
type LoadObject struct {
	Name, Path string
	Symbols    string // load_objects.symbols
	Lines      bool   // source lines are known
	Functions  int64  // number of functions in its symbol tables
	Named      int64  // number of functions on stacks that have a name
	Value      int64  // the exclusive value of its functions, of the first metric with a value
	Known      int64  // the share of Value in functions that have a name
	Used       bool   // its code occurs on stacks

	checksum     int64
	ids          []int64
	found, lined int // objects with symbols, with lines
}

// objectKey identifies a load object.
type objectKey struct {
	path     string
	checksum int64
}

// objectSymbols describes the symbols that an experiment has for its load objects, from the rows
// of its tables.
type objectSymbols struct {
	objects   map[objectKey]*LoadObject
	byID      map[int64]*LoadObject
	functions map[int32]functionInfo
	metric    string
}

type functionInfo struct {
	object *LoadObject
	named  bool
}

func newObjectSymbols() *objectSymbols {
	return &objectSymbols{objects: map[objectKey]*LoadObject{}, byID: map[int64]*LoadObject{}, functions: map[int32]functionInfo{}}
}

// symbolTables are the columns that objectSymbols needs, by table, in the order in which the tables
// are read.
var symbolTables = []struct {
	table   *schema.Table
	columns []string
	add     func(*objectSymbols, schema.Events)
}{
	{schema.LoadObjects, []string{"load_object_id", "name", "path", "checksum", "kind", "symbols", "functions", "lines"}, (*objectSymbols).addObjects},
	{schema.Functions, []string{"function_no", "load_object_id", "kind"}, (*objectSymbols).addFunctions},
	{schema.FunctionValues, []string{schema.Modes[0], "metric", "function_no", "exclusive", "inclusive"}, (*objectSymbols).addValues},
}

// read adds the rows of a store.
func (k *objectSymbols) read(tables schema.TableReader) error {
	for _, t := range symbolTables {
		if err := eachOf(tables, t.table, func(rows schema.Events) { t.add(k, rows) }, t.columns...); err != nil {
			return err
		}
	}
	return nil
}

// object returns the load object of a path and checksum.
func (k *objectSymbols) object(path string, checksum int64) *LoadObject {
	o := k.objects[objectKey{path, checksum}]
	if o == nil {
		o = &LoadObject{Path: path, checksum: checksum}
		k.objects[objectKey{path, checksum}] = o
	}
	return o
}

// add adds one load object to o, which sums up all with the same path and checksum.
func (o *LoadObject) add(id int64, name, symbols string, functions int64, lines bool) {
	if symbols != noSymbols {
		o.ids = append(o.ids, id)
	}
	o.Name, o.Functions = name, o.Functions+functions
	if o.Symbols == "" || o.Symbols == noSymbols {
		o.Symbols = symbols
	}
	if symbols != noSymbols {
		o.found++
	}
	if lines {
		o.lined++
		o.Lines = true
	}
}

// The value of load_objects.symbols if no symbols were found, and of load_objects.kind for files.
const (
	noSymbols = "none"
	fileKind  = "elf"
)

func (k *objectSymbols) addObjects(rows schema.Events) {
	names, paths, kinds, symbols := textsOf(rows, "name"), textsOf(rows, "path"), textsOf(rows, "kind"), textsOf(rows, "symbols")
	lines, _ := rows.Column("lines").(*array.Boolean)
	checksums, functions := rows.Int64s("checksum"), rows.Int64s("functions")
	for i, id := range rows.Int64s("load_object_id") {
		if kinds(i) == fileKind {
			o := k.object(paths(i), checksums[i])
			o.add(id, names(i), symbols(i), functions[i], lines != nil && lines.Value(i))
			k.byID[id] = o
		}
	}
}

// nameless lists the values of functions.kind for code without a symbol.
var nameless = []string{"static", "unknown", "artificial"}

func (k *objectSymbols) addFunctions(rows schema.Events) {
	objects, kinds := rows.Int64s("load_object_id"), textsOf(rows, "kind")
	for i, n := range rows.Int32s("function_no") {
		if o := k.byID[objects[i]]; o != nil {
			named := !slices.Contains(nameless, kinds(i))
			k.functions[n], o.Used = functionInfo{o, named}, true
			if named {
				o.Named++
			}
		}
	}
}

func (k *objectSymbols) addValues(rows schema.Events) {
	metrics, functions := textsOf(rows, "metric"), rows.Int32s("function_no")
	values := rows.Int64s("exclusive")
	for i, modes := range schema.ModesOf(rows.RecordBatch) {
		f, ok := k.functions[functions[i]]
		value := values[i]
		if !ok || modes&schema.UserMode == 0 || value == 0 {
			continue
		}
		if metric := metrics(i); k.metric == "" {
			k.metric = metric
		} else if k.metric != metric {
			continue
		}
		f.object.Value += value
		if f.named {
			f.object.Known += value
		}
	}
}

// textsOf returns a function that returns the text of a column by row.
func textsOf(rows schema.Events, name string) func(int) string {
	return (&schema.Columns{Batch: rows.RecordBatch}).Texts(rows.Schema().FieldIndices(name)[0])
}

// list returns the load objects, sorted by path.
func (k *objectSymbols) list() (list []LoadObject) {
	for _, o := range k.objects {
		list = append(list, *o)
	}
	slices.SortFunc(list, func(a, b LoadObject) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.checksum, b.checksum))
	})
	return list
}

// currentSymbols returns the symbols that are found now for the load objects of a program.
func currentSymbols(p *program.Program) *objectSymbols {
	k := newObjectSymbols()
	for i := range p.Objects {
		if o := &p.Objects[i]; o.Kind == fileKind {
			k.object(o.Path, int64(o.Checksum)).add(o.ID, o.Name, o.Symbols, int64(o.FunctionCount), o.Lines)
		}
	}
	return k
}

// replaced reports whether a load object that had symbols has a different file now.
func (o *LoadObject) replaced(now *LoadObject) bool {
	return slices.ContainsFunc(o.ids, func(id int64) bool { return !slices.Contains(now.ids, id) })
}

// isList reports whether a load object's symbols come from a list that users name by its path.
func isList(path string) bool { return path == decode.KernelPath || decode.IsPerfMap(path) }

// compare reports whether some load objects have more symbols now, and returns those with code on
// stacks that have fewer symbols now, or a different file.
func (k *objectSymbols) compare(now *objectSymbols) (better bool, lost []LoadObject) {
	for _, o := range k.list() {
		n := now.object(o.Path, o.checksum)
		fewer := n.Functions < o.Functions && n.lined <= o.lined
		switch {
		case n.found < o.found, n.lined < o.lined, fewer, !isList(o.Path) && o.replaced(n):
			if o.Used {
				lost = append(lost, o)
			}
		case n.found > o.found, n.lined > o.lined, n.Functions > o.Functions:
			better = true
		}
	}
	return better, lost
}

// as returns the stored load objects, with the symbols that are found for them now.
func (k *objectSymbols) as(now *objectSymbols) []LoadObject {
	list := k.list()
	for i := range list {
		o, n := &list[i], now.object(list[i].Path, list[i].checksum)
		o.Symbols, o.Functions, o.Lines = n.Symbols, n.Functions, n.Lines
	}
	return list
}

// rowTap is a rowWriter that passes rows on, and keeps those that objectSymbols needs.
type rowTap struct {
	rowWriter
	rows [3][]arrow.RecordBatch // the kept rows of each table of symbolTables
}

// write implements rowWriter. It needs no lock, because each table has its own element of rows.
func (t *rowTap) write(table *schema.Table, rows arrow.RecordBatch) error {
	for i, k := range symbolTables {
		if k.table == table {
			rows.Retain()
			t.rows[i] = append(t.rows[i], rows)
		}
	}
	return t.rowWriter.write(table, rows)
}

// objectSymbols returns the symbols that the kept rows describe.
func (t *rowTap) objectSymbols() *objectSymbols {
	k := newObjectSymbols()
	for i, list := range t.rows {
		for _, rows := range list {
			symbolTables[i].add(k, schema.Events{RecordBatch: rows})
		}
	}
	return k
}
