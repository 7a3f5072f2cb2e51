package values

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"stackmill/queries"
	"stackmill/queries/annotate"
)

// A function's annotated code has the values of the views of lines, files, instructions and inlined code.
func TestAnnotatedCode(t *testing.T) {
	all, err := queries.Open(t.Context(), filepath.Join(folder, "store"))
	if err != nil {
		t.Fatal(err)
	}
	defer all.Close()
	var seen annotated
	for _, mode := range []string{"user", "machine"} {
		for _, e := range all.Experiments() {
			if filepath.Base(e.Name) == "java.er" && mode == "machine" {
				continue // most of it is the Java VM, without lines
			}
			seen.check(t, all, e, mode)
		}
	}
	if seen.functions < 60 || seen.lines < 200 || seen.instructions < 2000 || seen.inlined < 8 {
		t.Errorf("too little was compared: %+v", seen)
	}
}

// annotated counts what was compared.
type annotated struct{ functions, lines, instructions, inlined int }

// check compares the code of the four functions of an experiment with the highest values.
func (n *annotated) check(t *testing.T, all *queries.DB, e queries.Experiment, mode string) {
	db, err := all.Subset(t.Context(), e.ExperimentID)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	metrics, err := db.Metrics(t.Context())
	if err != nil || len(metrics) == 0 {
		t.Fatal(err, len(metrics))
	}
	of := " WHERE mode = '" + mode + "' AND metric = " + queries.Quote(metrics[0].Name)
	v := &viewValues{t, db, of, map[string][]queries.Record{}}
	for _, f := range v.records("SELECT function_key::VARCHAR AS key, function_id, \"function\", exclusive, inclusive FROM function_metrics" + of + " AND kind <> 'artificial' ORDER BY exclusive DESC, function_id LIMIT 4") {
		got, err := annotate.Run(t.Context(), db, annotate.Request{Metric: metrics[0].Name, Mode: mode, Function: f.Text("function"), Key: f.Text("key")})
		if err != nil {
			t.Fatal(e.Name, f.Text("function"), err)
		}
		name := fmt.Sprintf("%s, %s mode, %s", e.Name, mode, f.Text("function"))
		if got.Function == nil || got.Function.Name != f.Text("function") || got.Exclusive != f.Number("exclusive") || got.Inclusive != f.Number("inclusive") || got.Runs != 1 {
			t.Errorf("%s is %+v with %d and %d, want %d and %d", name, got.Function, got.Exclusive, got.Inclusive, f.Number("exclusive"), f.Number("inclusive"))
			continue
		}
		n.functions++
		n.compareLines(name, got, v, f.Number("function_id"))
		n.compareInstructions(name, got, v, f.Number("function_id"))
	}
}

// viewValues reads views of one experiment.
type viewValues struct {
	t  *testing.T
	db *queries.DB
	of string // the condition for the rows of the mode and metric

	known map[string][]queries.Record // by query: functions of one file need the same rows
}

func (v *viewValues) records(query string) []queries.Record {
	v.t.Helper()
	if rows, known := v.known[query]; known {
		return rows
	}
	rows, err := v.db.Records(v.t.Context(), query)
	if err != nil {
		v.t.Fatal(query, err)
	}
	v.known[query] = rows
	return rows
}

// pairs returns exclusive and inclusive values by the column key.
func (v *viewValues) pairs(query string) map[string][2]int64 {
	v.t.Helper()
	of := map[string][2]int64{}
	for _, r := range v.records(query) {
		of[fmt.Sprint(r["key"])] = [2]int64{r.Number("exclusive"), r.Number("inclusive")}
	}
	return of
}

// differ reports a difference between values that are not 0.
func differ(t *testing.T, name string, got, want map[string][2]int64) {
	t.Helper()
	for _, m := range []map[string][2]int64{got, want} {
		maps.DeleteFunc(m, func(_ string, v [2]int64) bool { return v == [2]int64{} })
	}
	if !maps.Equal(got, want) {
		t.Errorf("%s: %v, want %v", name, got, want)
	}
}

func (n *annotated) compareLines(name string, got *annotate.Result, v *viewValues, function int64) {
	all := v.records(fmt.Sprintf("SELECT file, sum(exclusive)::BIGINT AS exclusive FROM line_metrics%s AND function_id = %d GROUP BY file", v.of, function))
	for _, r := range all {
		have := got.Lineless
		if file := r.Text("file"); file != "" {
			i := slices.IndexFunc(got.Files, func(f annotate.File) bool { return f.Name == file })
			if i < 0 {
				v.t.Errorf("%s: lacks the file %s", name, file)
				continue
			}
			have = got.Files[i].Exclusive
		}
		if have != r.Number("exclusive") {
			v.t.Errorf("%s: %d on lines of %q, want %d", name, have, r.Text("file"), r.Number("exclusive"))
		}
	}
	if got.File < 0 {
		return
	}
	file := queries.Quote(got.Files[got.File].Name)
	own, whole := map[string][2]int64{}, map[string][2]int64{}
	for i, line := range got.Lines.Line {
		key := fmt.Sprint(line)
		own[key], whole[key] = [2]int64{got.Lines.FunctionExclusive[i], got.Lines.FunctionInclusive[i]}, [2]int64{got.Lines.Exclusive[i], got.Lines.Inclusive[i]}
	}
	differ(v.t, name+": lines of the function", own, v.pairs(fmt.Sprintf("SELECT line AS key, exclusive, inclusive FROM line_metrics%s AND function_id = %d AND file = %s", v.of, function, file)))
	differ(v.t, name+": lines of the file", whole, v.pairs("SELECT line AS key, exclusive, inclusive FROM source"+v.of+" AND file = "+file))
	n.lines += len(whole)
	n.compareInlined(name, got, v, file, own, whole)
}

// compareInlined compares inlined code at the lines that only the function has values on: the view adds up all functions.
func (n *annotated) compareInlined(name string, got *annotate.Result, v *viewValues, file string, own, whole map[string][2]int64) {
	places := map[string][2]int64{}
	recursive := false
	for _, p := range got.Inlined {
		if line := fmt.Sprint(p.Line); own[line] != whole[line] {
			continue
		}
		value := [2]int64{p.Exclusive, 0}
		if recursive = p.Inclusive == nil; !recursive {
			value[1] = *p.Inclusive
		}
		places[fmt.Sprintf("%d %d %s %s:%d", p.Line, p.Depth, p.Path, p.File, p.At)] = value
	}
	n.inlined += len(places)
	want := map[string][2]int64{}
	for _, r := range v.records("SELECT line, depth, path, inlined_file, inlined_line, exclusive, inclusive FROM source_inlined" + v.of + " AND file = " + file) {
		line := fmt.Sprint(r.Number("line"))
		if _, of := own[line]; !of || own[line] != whole[line] {
			continue
		}
		value := [2]int64{r.Number("exclusive"), r.Number("inclusive")}
		if recursive {
			value[1] = 0
		}
		want[fmt.Sprintf("%s %d %s %s:%d", line, r.Number("depth"), r.Text("path"), r.Text("inlined_file"), r.Number("inlined_line"))] = value
	}
	differ(v.t, name+": inlined code", places, want)
}

func (n *annotated) compareInstructions(name string, got *annotate.Result, v *viewValues, function int64) {
	text, want := map[string]string{}, map[string]string{}
	values := map[string][2]int64{}
	sum := got.Unplaced
	for i, offset := range got.Instructions.Offset {
		address := fmt.Sprint(got.Parts[got.Instructions.Part[i]].Address + offset)
		text[address] = got.Instructions.Text[i]
		values[address] = [2]int64{got.Instructions.Exclusive[i], got.Instructions.Inclusive[i]}
		sum += got.Instructions.Exclusive[i]
	}
	rows := fmt.Sprintf("SELECT address AS key, text, exclusive, inclusive FROM disasm%s AND function_id = %d", v.of, function)
	for _, r := range v.records(rows) {
		want[fmt.Sprint(r["key"])] = r.Text("text")
	}
	if !maps.Equal(text, want) {
		v.t.Errorf("%s: instructions are %v, want %v", name, text, want)
	}
	differ(v.t, name+": instructions", values, v.pairs(rows))
	if len(text) > 0 && sum != got.Exclusive {
		v.t.Errorf("%s: instructions have %d, the function %d", name, sum, got.Exclusive)
	}
	n.instructions += len(text)
}
