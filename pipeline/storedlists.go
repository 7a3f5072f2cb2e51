package pipeline

import (
	"cmp"
	"slices"

	"github.com/apache/arrow-go/v18/arrow/array"

	"stackmill/schema"
	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/symbolize"
)

// storedLists collects the symbol lists (kallsyms, perf maps) that an experiment was symbolized
// with.
type storedLists struct {
	byPath  map[string]*storedList
	byID    map[int64]*storedList
	modules map[int64]symtab.Module
}

// storedList is a symbol list whose rows are being read.
type storedList struct {
	symbolize.StoredList
	draft symtab.Draft
}

// storedLists returns the symbol lists in the store, by the paths of their load objects. A list
// that the user names by an option replaces the stored one. A list at its usual path does not,
// because by now it may belong to another kernel or process.
func (w *lookup) storedLists(tables schema.TableReader) (map[string]*symbolize.StoredList, error) {
	k := &storedLists{map[string]*storedList{}, map[int64]*storedList{}, map[int64]symtab.Module{}}
	for _, t := range []struct {
		table   *schema.Table
		add     func(schema.Events)
		columns []string
	}{
		{schema.LoadObjects, k.objects, []string{"load_object_id", "path", "kind", "symbols", "functions"}},
		{schema.Modules, k.names, []string{"module_id", "name", "language", "short_path"}},
		{schema.Functions, k.functions, []string{"load_object_id", "module_id", "name", "other_gprofng_name", "other_perf_name", "other_linkage_name", "other_aliases", "kind", "address", "offset", "size", "name_scope"}},
		{schema.Problems, k.problems, []string{"severity", "process", "file", "offset", "reason", "message", "count"}},
	} {
		if err := eachOf(tables, t.table, t.add, t.columns...); err != nil {
			return nil, err
		}
	}
	lists := map[string]*symbolize.StoredList{}
	for path, list := range k.byPath {
		functions := list.draft.Functions
		isList := len(functions) > 0
		for _, f := range functions {
			isList = isList && f.Offset == f.Address // images have offsets of their own
		}
		if !isList {
			continue
		}
		slices.SortFunc(functions, func(a, b symtab.Function) int { return cmp.Compare(a.Offset, b.Offset) })
		list.Table = list.draft.Finish()
		list.First = w.kallsyms == "" && w.vmlinux == ""
		if decode.IsPerfMap(path) {
			list.First = w.perfMaps == ""
		}
		lists[path] = &list.StoredList
	}
	return lists, nil
}

// objects collects load objects with symbols. Only those that get functions turn out to be lists.
func (k *storedLists) objects(rows schema.Events) {
	paths, kinds, symbols, counts := textsOf(rows, "path"), textsOf(rows, "kind"), textsOf(rows, "symbols"), rows.Int64s("functions")
	for i, id := range rows.Int64s("load_object_id") {
		if kinds(i) == fileKind && symbols(i) != noSymbols {
			k.byID[id] = &storedList{StoredList: symbolize.StoredList{ID: id, Symbols: symbols(i), Functions: int(counts[i])}}
			k.byPath[paths(i)] = k.byID[id]
		}
	}
}

func (k *storedLists) names(rows schema.Events) {
	names, languages, short := textsOf(rows, "name"), textsOf(rows, "language"), textsOf(rows, "short_path")
	for i, id := range rows.Int64s("module_id") {
		k.modules[id] = symtab.Module{Name: names(i), Language: languages(i), ShortPath: short(i)}
	}
}

// functions adds the functions of kallsyms and perf maps to their lists. Its rows are of the table
// functions.
func (k *storedLists) functions(rows schema.Events) {
	objects, modules, kinds := rows.Int64s("load_object_id"), rows.Int64s("module_id"), textsOf(rows, "kind")
	addresses, offsets, sizes := rows.Int64s("address"), rows.Int64s("offset"), rows.Int64s("size")
	names, gprofng, perf := textsOf(rows, "name"), orElse(rows, "other_gprofng_name"), orElse(rows, "other_perf_name")
	scopes := textsOf(rows, "name_scope")
	linkages, aliases := orElse(rows, "other_linkage_name"), orElse(rows, "other_aliases")
	for i, id := range objects {
		list, kind := k.byID[id], funcinfo.Kind(kinds(i))
		if list == nil || kind != funcinfo.Kernel && kind != funcinfo.Dynamic {
			continue
		}
		linkage := linkages(i, names(i))
		list.draft.Functions = append(list.draft.Functions, symtab.Function{
			Offset: uint64(offsets[i]), Address: uint64(addresses[i]), Size: uint64(sizes[i]), Kind: kind,
			Name: names(i), Linkage: linkage, Aliases: aliases(i, linkage), GprofngName: gprofng(i, ""), PerfName: perf(i, ""),
			Scope:  scopeOf(scopes(i)),
			Module: moduleOf(&list.draft.Table, k.modules[modules[i]]),
		})
	}
}

// scopeOf parses functions.name_scope.
func scopeOf(text string) (s funcinfo.NameScope) {
	for s = funcinfo.ObjectScope; s < funcinfo.BuildScope && s.String() != text; {
		s++
	}
	return s
}

// moduleOf returns the number of a module in a table, adding it if it is new.
func moduleOf(t *symtab.Table, m symtab.Module) int32 {
	n := slices.Index(t.Modules, m)
	if n < 0 {
		n = len(t.Modules)
		t.Modules = append(t.Modules, m)
	}
	return int32(n)
}

// orElse returns a function that returns the text of a column by row, or `other` if that is NULL.
func orElse(rows schema.Events, name string) func(row int, other string) string {
	column, value := rows.Column(name), textsOf(rows, name)
	return func(row int, other string) string {
		if column.IsNull(row) {
			return other
		}
		return value(row)
	}
}

// problems adds the problems of the load objects.
func (k *storedLists) problems(rows schema.Events) {
	severities, files, reasons, messages := textsOf(rows, "severity"), textsOf(rows, "file"), textsOf(rows, "reason"), textsOf(rows, "message")
	processes, counts := rows.Int32s("process"), rows.Int64s("count")
	offsets, _ := rows.Column("offset").(*array.Int64)
	for i := range int(rows.NumRows()) {
		list := k.byPath[files(i)]
		if list == nil || processes[i] != 0 {
			continue
		}
		p := diagnostic.Problem{File: files(i), Offset: diagnostic.NoOffset, Reason: reasons(i), Message: messages(i), Count: counts[i]}
		for p.Severity = diagnostic.Info; p.Severity < diagnostic.Error && p.Severity.String() != severities(i); {
			p.Severity++
		}
		if offsets != nil && offsets.IsValid(i) {
			p.Offset = offsets.Value(i)
		}
		list.Problems = append(list.Problems, p)
	}
}
