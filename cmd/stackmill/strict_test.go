//go:build cgo

package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stackmill/queries/storetest"
)

// fromStore are calls of the verbs that answer from a store, without those of the options that
// say in which form.
var fromStore = map[string][]string{
	"compare":     {"--base", "00000000000000aa", "--test", "00000000000000aa"},
	"experiments": {},
	"explain":     {"--stack"},
	"export":      {"--as", "folded", "-o", "-"},
	"gate":        {"--base", "base-*", "--test", "test-*", "--max-increase", "1000%"},
	"problems":    {},
	"query":       {"SELECT count(*) AS n FROM experiments"},
	"report":      {"functions"},
}

// others are the verbs that do not.
var otherVerbs = []string{"check", "compact", "completion", "forget", "help", "ingest", "label", "mcp", "plan", "resymbolize", "serve", "version"}

// damage flips a bit of the last commit of a store.
func damage(t *testing.T, store string) {
	t.Helper()
	list, err := os.ReadDir(filepath.Join(store, "commits"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(store, "commits", list[len(list)-1].Name())
	commit, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	commit[len(commit)/2] ^= 1
	if err := os.WriteFile(path, commit, 0o666); err != nil {
		t.Fatal(err)
	}
}

// Every verb that answers from a store says what is left out: on the standard error, under
// tables, and by its status if it is asked to.
func TestLeftOut(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	runs := storetest.Vary(5, map[string]int{"f": 100, "g": 200})
	groups := storetest.New(t, storetest.Groups("clock", runs, runs))
	if _, errs, status := call("report", "functions", "--strict", "--store", store); status != 0 || strings.Contains(errs, "left out") {
		t.Errorf("an intact store: %d %s", status, errs)
	}
	damage(t, store)
	damage(t, groups)
	const remark = "left out: the experiment te"
	stack := stackOf(t, store)
	for _, c := range newRoot(&app{stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard}).Commands() {
		verb := c.Name()
		args, ok := fromStore[verb]
		if !ok {
			if !slices.Contains(otherVerbs, verb) {
				t.Errorf("%s: neither an answer from the store, nor said to be none", verb)
			}
			continue
		}
		asked, want := append([]string{verb}, args...), exitLost
		switch verb {
		case "explain":
			asked = append(asked, stack)
		case "gate":
			want = exitNothing
		}
		if verb == "gate" {
			asked = append(asked, "--store", groups)
		} else {
			asked = append(asked, "--store", store)
		}
		_, errs, plain := call(asked...)
		if !strings.Contains(errs, remark) {
			t.Errorf("%s does not say what is left out: %s", verb, errs)
		}
		if _, errs, status := call(append(asked, "--strict")...); status != want || plain != 0 {
			t.Errorf("%s: status %d, with --strict %d: %s", verb, plain, status, errs)
		}
		if c.Flags().Lookup("format") == nil {
			continue
		}
		for _, format := range []string{"table", "markdown", "text", "json"} {
			out, errs, status := call(append(asked, "--format", format)...)
			if status == exitUsage && format != "json" { // it has no such format
				continue
			}
			if said := strings.Contains(out, remark); said != (format != "json") || status != 0 {
				t.Errorf("%s as %s: status %d, says it: %t\n%s", verb, format, status, said, errs)
			}
		}
	}
}

// stackOf returns the id of a stack.
func stackOf(t *testing.T, store string) string {
	t.Helper()
	out, errs, status := call("query", "--store", store, "--format", "csv", "SELECT min(stack_id) FROM stacks")
	if status != 0 {
		t.Fatal(errs)
	}
	return strings.Fields(out)[1]
}

// Every tool of an agent says what is left out, however short its answer must be.
func TestAgentsAreToldWhatIsLeftOut(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	damage(t, store)
	calls := map[string]map[string]any{
		"experiments": nil,
		"report":      {"view": "functions", "experiment": "00000000000000aa"},
		"query":       {"sql": "SELECT repeat('x', 150) AS a, i, i AS j FROM range(100) t(i)"},
		"explain":     {"stack": stackOf(t, store)},
		"compare":     {"base": "00000000000000aa", "test": "00000000000000aa"},
	}
	for _, flags := range [][]string{nil, {"--max-bytes", "1024"}} {
		a := connected(t, store, flags...)
		for _, tool := range tools {
			arguments, ok := calls[tool.Name]
			if !ok {
				t.Errorf("%s: there is no call of it", tool.Name)
				continue
			}
			if text, failed, _ := a.call(tool.Name, arguments); failed || !strings.Contains(text, `"warnings":["left out: `) {
				t.Errorf("%s %v: %s", tool.Name, flags, text)
			}
		}
		if text, failed, _ := a.call("report", map[string]any{"view": "functions", "experiment": "00000000000000bb"}); !failed || !strings.Contains(text, "left out") {
			t.Errorf("the experiment that is missing: %s", text)
		}
	}
}
