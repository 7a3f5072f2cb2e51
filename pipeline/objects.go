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

// LoadObject is what an experiment knows of the functions of a load object, or of several
// that were recorded with the same path and checksum.
type LoadObject struct {
	Name, Path string
	Symbols    string // load_objects.symbols
	Lines      bool   // source lines are known
	Functions  int64  // that its symbol tables name
	Named      int64  // functions on stacks that have a name
	Value      int64  // the exclusive value of its functions, of the first metric with a value
	Known      int64  // the part of it in functions that have a name
	Used       bool   // stacks have code of it

	checksum     int64
	ids          []int64
	found, lined int // objects with symbols, with lines
}

// objectKey tells load objects apart.
type objectKey struct {
	path     string
	checksum int64
}

// knowledge is what an experiment knows of its load objects, from the rows of its tables.
type knowledge struct {
	objects   map[objectKey]*LoadObject
	byID      map[int64]*LoadObject
	functions map[int32]knownFunction
	metric    string
}

type knownFunction struct {
	object *LoadObject
	named  bool
}

func newKnowledge() *knowledge {
	return &knowledge{objects: map[objectKey]*LoadObject{}, byID: map[int64]*LoadObject{}, functions: map[int32]knownFunction{}}
}

// knowledgeColumns are the columns that knowledge is made of, by table, in the order in
// which the tables are read.
var knowledgeColumns = []struct {
	table   *schema.Table
	columns []string
	add     func(*knowledge, schema.Events)
}{
	{schema.LoadObjects, []string{"load_object_id", "name", "path", "checksum", "kind", "symbols", "functions", "lines"}, (*knowledge).addObjects},
	{schema.Functions, []string{"function_no", "load_object_id", "kind"}, (*knowledge).addFunctions},
	{schema.FunctionValues, []string{schema.Modes[0], "metric", "function_no", "exclusive", "inclusive"}, (*knowledge).addValues},
}

// read reads what a store knows.
func (k *knowledge) read(tables schema.TableReader) error {
	for _, t := range knowledgeColumns {
		if err := eachOf(tables, t.table, func(rows schema.Events) { t.add(k, rows) }, t.columns...); err != nil {
			return err
		}
	}
	return nil
}

// object returns the load object of a path and checksum.
func (k *knowledge) object(path string, checksum int64) *LoadObject {
	o := k.objects[objectKey{path, checksum}]
	if o == nil {
		o = &LoadObject{Path: path, checksum: checksum}
		k.objects[objectKey{path, checksum}] = o
	}
	return o
}

// add adds one of the objects that an object stands for.
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

// noSymbols is load_objects.symbols where none were found; fileKind is load_objects.kind
// of files.
const (
	noSymbols = "none"
	fileKind  = "elf"
)

func (k *knowledge) addObjects(rows schema.Events) {
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

// nameless are the kinds of functions that stand for code of which nothing is known.
var nameless = []string{"static", "unknown", "artificial"}

func (k *knowledge) addFunctions(rows schema.Events) {
	objects, kinds := rows.Int64s("load_object_id"), textsOf(rows, "kind")
	for i, n := range rows.Int32s("function_no") {
		if o := k.byID[objects[i]]; o != nil {
			named := !slices.Contains(nameless, kinds(i))
			k.functions[n], o.Used = knownFunction{o, named}, true
			if named {
				o.Named++
			}
		}
	}
}

func (k *knowledge) addValues(rows schema.Events) {
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

// textsOf returns what gives the texts of a column by row.
func textsOf(rows schema.Events, name string) func(int) string {
	switch c := rows.Column(name).(type) {
	case *array.String:
		return c.Value
	case *array.Dictionary:
		if names, ok := c.Dictionary().(*array.String); ok {
			return func(i int) string { return names.Value(c.GetValueIndex(i)) }
		}
	}
	return func(int) string { return "" }
}

// list returns the load objects in the order of their paths.
func (k *knowledge) list() (list []LoadObject) {
	for _, o := range k.objects {
		list = append(list, *o)
	}
	slices.SortFunc(list, func(a, b LoadObject) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.checksum, b.checksum))
	})
	return list
}

// knownNow returns what is found of the load objects of a program now.
func knownNow(p *program.Program) *knowledge {
	k := newKnowledge()
	for i := range p.Objects {
		if o := &p.Objects[i]; o.Kind == fileKind {
			k.object(o.Path, int64(o.Checksum)).add(o.ID, o.Name, o.Symbols, int64(o.FunctionCount), o.Lines)
		}
	}
	return k
}

// replaced reports whether a file that had symbols is another one now.
func (o *LoadObject) replaced(now *LoadObject) bool {
	return slices.ContainsFunc(o.ids, func(id int64) bool { return !slices.Contains(now.ids, id) })
}

// isList reports whether lists of symbols stand for a load object, which users say where
// they are.
func isList(path string) bool { return path == decode.KernelPath || decode.IsPerfMap(path) }

// compare reports whether more is known now, and which of the objects that stacks have
// code of have lost what was known, or their file to another one.
func (k *knowledge) compare(now *knowledge) (better bool, lost []LoadObject) {
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

// as returns the load objects with the symbols that are known now.
func (k *knowledge) as(now *knowledge) []LoadObject {
	list := k.list()
	for i := range list {
		o, n := &list[i], now.object(list[i].Path, list[i].checksum)
		o.Symbols, o.Functions, o.Lines = n.Symbols, n.Functions, n.Lines
	}
	return list
}

// tapped passes rows on, and keeps those that knowledge is made of.
type tapped struct {
	output
	rows [3][]arrow.RecordBatch // by knowledgeColumns
}

// write implements output. Different tables have different places.
func (t *tapped) write(table *schema.Table, rows arrow.RecordBatch) error {
	for i, k := range knowledgeColumns {
		if k.table == table {
			rows.Retain()
			t.rows[i] = append(t.rows[i], rows)
		}
	}
	return t.output.write(table, rows)
}

// knowledge is what the rows say.
func (t *tapped) knowledge() *knowledge {
	k := newKnowledge()
	for i, list := range t.rows {
		for _, rows := range list {
			knowledgeColumns[i].add(k, schema.Events{RecordBatch: rows})
		}
	}
	return k
}
