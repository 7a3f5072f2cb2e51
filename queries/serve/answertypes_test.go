package serve

import (
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"stackmill/queries/annotate"
	"stackmill/queries/functions"
)

// The page's TypeScript types of answers that are not rows have the properties that the server sends.
func TestAnswerTypes(t *testing.T) {
	checkTypes(t, "web/src/lib/function.ts", map[string]any{
		"FunctionAnswer": functions.Function{}, "FunctionName": functions.Name{}, "Neighbor": functions.Neighbor{}, "Remainder": functions.Remainder{},
		"FunctionHistory": functions.Values{}, "FunctionPoint": functions.Point{}, "BaseValues": functions.OfBase{},
	})
	checkTypes(t, "web/src/lib/functiontable.ts", map[string]any{
		"TableAnswer": functions.Table{}, "TableMetric": functions.TableMetric{}, "TableRun": functions.Run{}, "TableRow": functions.Row{},
		"BaseSums": functions.BaseSums{}, "RunValues": functions.RunValues{},
	})
	checkTypes(t, "web/src/lib/callgraph.ts", map[string]any{"GraphAnswer": graphAnswer{}, "GraphNeighbor": graphNeighbor{}, "GraphCycle": graphCycle{}})
	checkTypes(t, "web/src/lib/annotated.ts", map[string]any{
		"Annotated": annotate.Result{}, "LineColumns": annotate.LineValues{}, "FileOf": annotate.File{}, "OtherFunction": annotate.Neighbor{},
		"Part": annotate.Part{}, "FunctionOf": annotate.Function{}, "Build": annotate.Build{}, "Explanation": annotate.Explanation{},
		"InlinedPlace": annotate.InlinedPlace{}, "Instructions": annotate.Instructions{},
	})
}

// checkTypes compares all interfaces of a TypeScript file with the types that the server sends, by name.
func checkTypes(t *testing.T, file string, types map[string]any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	declared := typeScriptInterfaces(string(text), functionTypes(t))
	for name, of := range types {
		want := map[string]string{}
		addProperties(want, reflect.TypeOf(of))
		if got := declared[name]; !maps.Equal(got, want) {
			t.Errorf("%s has %v, the server sends %v", name, got, want)
		}
		delete(declared, name)
	}
	if len(declared) > 0 {
		t.Errorf("%s: types that the server does not send: %v", file, slices.Sorted(maps.Keys(declared)))
	}
}

var (
	interfaceOf = regexp.MustCompile(`(?s)export interface (\w+)(?: extends (\w+))? \{\n(.*?)\n\}`)
	propertyOf  = regexp.MustCompile(`(?m)^  (\w+\??): (.*?);(?: //.*)?$`)
)

// functionTypes returns the interfaces that other files extend.
func functionTypes(t *testing.T) map[string]map[string]string {
	t.Helper()
	text, err := os.ReadFile("web/src/lib/function.ts")
	if err != nil {
		t.Fatal(err)
	}
	return typeScriptInterfaces(string(text), nil)
}

// typeScriptInterfaces returns the kinds of the properties of each interface: see kindOf. Interfaces may extend others
// of the text or of imported.
func typeScriptInterfaces(text string, imported map[string]map[string]string) map[string]map[string]string {
	all := map[string]map[string]string{}
	for _, i := range interfaceOf.FindAllStringSubmatch(text, -1) {
		if all[i[1]] = maps.Clone(all[i[2]]); all[i[1]] == nil {
			all[i[1]] = maps.Clone(imported[i[2]])
		}
		if all[i[1]] == nil {
			all[i[1]] = map[string]string{}
		}
		for _, p := range propertyOf.FindAllStringSubmatch(i[3], -1) {
			kind := p[2]
			switch {
			case strings.HasSuffix(kind, "[]"):
				kind = "list"
			case kind != "Value" && (kind[0] == '{' || kind[0] >= 'A' && kind[0] <= 'Z'):
				kind = "object"
			}
			all[i[1]][p[1]] = kind
		}
	}
	return all
}

// addProperties adds the JSON properties of a struct type with their kinds.
func addProperties(to map[string]string, of reflect.Type) {
	for i := range of.NumField() {
		f := of.Field(i)
		name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-":
		case f.Anonymous && name == "":
			addProperties(to, f.Type)
		case name != "" && option == "omitempty":
			to[name+"?"] = kindOf(f.Type)
		case name != "":
			to[name] = kindOf(f.Type)
		}
	}
}

// kindOf returns what TypeScript calls values of a type: only the outermost kind of lists and objects.
func kindOf(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[functions.Value]():
		return "Value"
	case t.Kind() == reflect.Pointer && t.Elem().Kind() != reflect.Struct:
		return kindOf(t.Elem()) + " | null"
	case t.Kind() == reflect.Pointer, t.Kind() == reflect.Struct:
		return "object"
	case t.Kind() == reflect.Slice:
		return "list"
	case t.Kind() == reflect.String:
		return "string"
	case t.Kind() == reflect.Bool:
		return "boolean"
	}
	return "number"
}
