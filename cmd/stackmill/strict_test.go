//go:build cgo

package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stackmill/internal/corpus"
	"stackmill/internal/exit"
	"stackmill/internal/terminal"
	"stackmill/internal/testfiles"
	"stackmill/queries"
	"stackmill/queries/export"
	"stackmill/queries/storetest"
)

// fromStore are calls of the verbs that answer from a store, without the options for the format.
var fromStore = map[string][]string{
	"compare":     {"--base", "00000000000000aa", "--test", "00000000000000aa"},
	"digest":      {},
	"experiments": {},
	"explain":     {"--stack"},
	"export":      {"--as", "folded", "-o", "-"},
	"gate":        {"--base", "base-*", "--test", "test-*", "--max-increase", "1000%"},
	"problems":    {},
	"query":       {"SELECT count(*) AS n FROM experiments"},
	"report":      {"functions"},
	"trend":       {},
}

// otherVerbs are the verbs that do not answer from a store.
var otherVerbs = []string{"man", "check", "compact", "completion", "forget", "help", "ingest", "label", "mcp", "plan", "record", "resymbolize", "serve", "version"}

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

// repair marks damaged experiments to be ingested again.
func repair(t *testing.T, store string) {
	t.Helper()
	left := 0
	err := queries.Repair(t.Context(), store, func(_, what string) {
		if what == "left out until its recording is ingested again" {
			left++
		}
	})
	if err != nil || left != 1 {
		t.Fatalf("%d experiments are left out: %v", left, err)
	}
}

// Every verb that answers from a store reports what is left out: on standard error, below tables,
// and with --strict by its exit status; after a repair, until that is ingested again.
func TestLeftOut(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	runs := storetest.Vary(5, map[string]int{"f": 100, "g": 200})
	groups := storetest.New(t, storetest.Groups("clock", runs, runs))
	if _, errs, status := call("report", "functions", "--strict", "--store", store); status != 0 || strings.Contains(errs, "left out") {
		t.Errorf("an intact store: %d %s", status, errs)
	}
	damage(t, store)
	damage(t, groups)
	stack := stackOf(t, store)
	toldByVerbs(t, store, groups, stack)
	repair(t, store)
	repair(t, groups)
	toldByVerbs(t, store, groups, stack)
}

// toldByVerbs runs every verb and checks that it reports what is left out. groups is a store with
// groups of experiments, for the verbs that compare.
func toldByVerbs(t *testing.T, store, groups, stack string) {
	t.Helper()
	const remark = "left out: the experiment te"
	for _, c := range newRoot(&app{stdin: strings.NewReader(""), Output: terminal.Output{Stdout: io.Discard, Stderr: io.Discard}}).Commands() {
		verb := c.Name()
		args, ok := fromStore[verb]
		if !ok {
			if !slices.Contains(otherVerbs, verb) {
				t.Errorf("%s: neither an answer from the store, nor said to be none", verb)
			}
			continue
		}
		asked, want := append([]string{verb}, args...), exit.Lost
		switch verb {
		case "explain":
			asked = append(asked, stack)
		case "gate":
			want = exit.Failed
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
			if status == exit.Usage && format != "json" { // it has no such format
				continue
			}
			if said := strings.Contains(out, remark); said != (format != "json" || verb == "gate") || status != 0 {
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

// Every agent tool reports what is left out, however short its answer must be.
func TestAgentsAreToldWhatIsLeftOut(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	damage(t, store)
	toldByTools(t, store)
	repair(t, store)
	toldByTools(t, store)
}

// toldByTools calls every agent tool and checks that it reports what is left out.
func toldByTools(t *testing.T, store string) {
	t.Helper()
	calls := map[string]map[string]any{
		"digest":      nil,
		"experiments": nil,
		"report":      {"view": "functions", "experiment": "00000000000000aa"},
		"query":       {"sql": "SELECT repeat('x', 150) AS a, i, i AS j FROM range(100) t(i)"},
		"explain":     {"stack": stackOf(t, store)},
		"compare":     {"base": "00000000000000aa", "test": "00000000000000aa"},
	}
	for _, flags := range [][]string{nil, {"--max-bytes", "1024"}} {
		a := connected(t, store, flags...)
		for _, tool := range a.ask("tools/list", nil)["result"].(map[string]any)["tools"].([]any) {
			name := tool.(map[string]any)["name"].(string)
			arguments, ok := calls[name]
			if !ok {
				t.Errorf("%s: there is no call of it", name)
				continue
			}
			if text, failed, _ := a.call(name, arguments); failed || !strings.Contains(text, `"warnings":["left out: `) {
				t.Errorf("%s %v: %s", name, flags, text)
			}
		}
		if text, failed, _ := a.call("report", map[string]any{"view": "functions", "experiment": "00000000000000bb"}); !failed || !strings.Contains(text, "left out") {
			t.Errorf("the experiment that is missing: %s", text)
		}
	}
}

// without are the formats of files that have no place for remarks.
var without = []string{"folded"}

// Exported files report what is left out if their formats have a place for remarks.
func TestFilesSayWhatIsLeftOut(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	runs := storetest.Vary(5, map[string]int{"f": 100, "g": 200})
	groups := storetest.New(t, storetest.Groups("clock", runs, runs))
	damage(t, store)
	damage(t, groups)
	calls := map[string][]string{
		"junit": {"gate", "--store", groups, "--base", "base-*", "--test", "test-*", "--max-increase", "1000%", "--junit"},
		"table": {"query", "--store", store, "FROM experiments", "-o"},
	}
	for _, format := range export.Formats() {
		calls[format] = []string{"export", "--store", store, "--metric", "totalcpu", "--as", format, "-o"}
	}
	for _, format := range export.RowFormats() {
		calls["rows as "+format] = []string{"query", "--store", store, "--as", format, "FROM folded WHERE mode = 'user' AND metric = 'totalcpu'", "-o"}
	}
	for name, args := range calls {
		file := filepath.Join(t.TempDir(), "file")
		if _, errs, status := call(append(args, file)...); status != 0 {
			t.Errorf("%s: status %d: %s", name, status, errs)
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if z, err := gzip.NewReader(bytes.NewReader(text)); err == nil {
			if text, err = io.ReadAll(z); err != nil {
				t.Fatal(err)
			}
		}
		if said := bytes.Contains(text, []byte("left out: the experiment te")); said == slices.Contains(without, strings.TrimPrefix(name, "rows as ")) {
			t.Errorf("%s says it: %t", name, said)
		}
	}
}

// An experiment that was damaged is left out with a remark until it is ingested again, or forgotten.
func TestDamagedExperiment(t *testing.T) {
	recordings, err := corpus.Dir()
	if err != nil {
		t.Fatal(err)
	}
	recording := testfiles.Glob(t, filepath.Join(recordings, "exp", "*.er"))[0]
	name := filepath.Base(recording)
	for _, mend := range [][]string{{"ingest", "--cache", "", recording}, {"forget", name}} {
		store := filepath.Join(t.TempDir(), "store")
		if out, errs, status := call("ingest", "--store", store, "--cache", "", recording); status != 0 {
			t.Fatalf("%d %s%s", status, out, errs)
		}
		damage(t, store)
		repair(t, store)
		for range 2 { // the second time from the catalog that the first made
			if _, errs, status := call("query", "--store", store, "--strict", "SELECT 1"); status != exit.Lost || !strings.Contains(errs, "left out: the experiment "+name+", which was damaged (") {
				t.Errorf("repaired: %d %s", status, errs)
			}
		}
		if out, errs, status := call(append(mend, "--store", store)...); status != 0 {
			t.Errorf("%s: %d %s%s", mend[0], status, out, errs)
		}
		if _, errs, status := call("query", "--store", store, "--strict", "SELECT 1"); status != 0 || errs != "" {
			t.Errorf("after %s: %d %s", mend[0], status, errs)
		}
	}
}
