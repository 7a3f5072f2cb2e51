package serve

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"stackmill/queries/report"
	"stackmill/queries/storetest"
)

var update = flag.Bool("update", false, "rewrite the page's row types")

// The TypeScript types of the page's rows are generated from the OpenAPI description.
func TestRowTypes(t *testing.T) {
	const file = "web/src/lib/rows.ts"
	d, err := description("")
	if err != nil {
		t.Fatal(err)
	}
	want := typeScript(d["components"].(object)["schemas"].(object))
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil || string(got) != want {
		t.Errorf("%s is not what the description says (run go test ./queries/serve -run TestRowTypes -update): %v", file, err)
	}
}

// typeScript returns an interface for each schema of a row.
func typeScript(schemas object) string {
	var b strings.Builder
	b.WriteString("// Types of rows in the server's answers. Generated from its OpenAPI description: do not edit.\n" +
		"import type { Value } from './units';\n")
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		s := schemas[name].(object)
		if !strings.HasSuffix(name, "Row") {
			continue
		}
		properties := s["properties"].(object)
		fmt.Fprintf(&b, "\nexport interface %s {\n", name)
		for _, column := range s["required"].([]string) {
			fmt.Fprintf(&b, "  %s: %s;\n", column, typeScriptType(properties[column]))
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// typeScriptType returns the TypeScript type of a column.
func typeScriptType(column any) string {
	types := strings.Join(column.(object)["type"].([]string), " | ")
	types = strings.Replace(types, "integer | string", "Value", 1)
	types = strings.Replace(types, "integer", "number", 1)
	return strings.Replace(types, "object", "Record<string, string>", 1)
}

// Rows in answers have the columns and types that the description says.
func TestRowSchemas(t *testing.T) {
	schemas, err := rowSchemas()
	if err != nil {
		t.Fatal(err)
	}
	paths := map[string]string{"experiments": experimentRow, "metrics": metricRow, "problems": problemRow}
	for _, r := range report.Reports {
		paths["views/"+r.Name] = reportRow(r.Name)
	}
	seen := 0
	for _, text := range []string{storetest.Two, storetest.Data} {
		s := start(t, storetest.New(t, text), nil)
		for path, name := range paths {
			response, body := s.ask("GET", "/api/v1/"+path, "")
			if response.StatusCode != 200 { // this report needs a function, or a metric of data objects
				continue
			}
			var rows []map[string]any
			if err := json.Unmarshal(body, &rows); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			for _, row := range rows {
				checkRow(t, path, row, schemas[name].(object))
			}
			seen += min(len(rows), 1)
		}
	}
	if seen < 30 {
		t.Errorf("only %d answers have rows", seen)
	}
}

func checkRow(t *testing.T, path string, row map[string]any, schema object) {
	t.Helper()
	columns := slices.Clone(schema["required"].([]string))
	if slices.Sort(columns); !slices.Equal(slices.Sorted(maps.Keys(row)), columns) {
		t.Fatalf("%s: columns %q, want %q", path, slices.Sorted(maps.Keys(row)), columns)
	}
	for name, value := range row {
		types := typeScriptType(schema["properties"].(object)[name])
		is := map[string]bool{
			"null":                   value == nil,
			"string":                 is[string](value),
			"number":                 is[float64](value),
			"boolean":                is[bool](value),
			"Value":                  is[float64](value) || is[string](value),
			"Record<string, string>": is[map[string]any](value),
		}
		if !slices.ContainsFunc(strings.Split(types, " | "), func(one string) bool { return is[one] }) {
			t.Errorf("%s: %s is %v, want %s", path, name, value, types)
		}
	}
}

func is[T any](v any) bool {
	_, ok := v.(T)
	return ok
}
