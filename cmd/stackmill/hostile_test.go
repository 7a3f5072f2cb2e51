package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"stackmill/internal/corpus"
	"stackmill/internal/exit"
	"stackmill/internal/terminal"
	"stackmill/internal/testfiles"
	"stackmill/queries/report"
	"stackmill/queries/storetest"
	"stackmill/schema"
	"stackmill/schema/storedir"
)

// ending ends all names of a hostile recording: terminal control sequences in both encodings,
// characters that hide or reverse text, line ends, and syntax of SQL, Markdown and HTML.
const ending = "\x1b]0;x\x07\u009b31m\u202e\u2066\u200b\u2028\x7f\n\t\x00|<b>![x](u)'\");--"

// fixed are the text columns whose values do not come from recordings.
var fixed = strings.Fields(`experiment_id format kind status unit severity symbols part rule scope_kind relation method agreement line_size_source`)

// hostile returns the description of a store with `ending` after each name.
func hostile(description string) string {
	quoted := strings.NewReplacer(`\"`, `"`).Replace(strings.Trim(fmt.Sprintf("%+q", ending), `"`))
	var out []string
	var table *schema.Table
	var columns []string
	for _, line := range strings.Split(description, "\n") {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0 || fields[0][0] == '#':
		case fields[0] == "batch":
			line = fmt.Sprintf("batch %s %s%s %s%s", fields[1], fields[2], quoted, fields[3], quoted)
		case line[0] != ' ':
			table, columns = schema.ByName(fields[0]), fields[1:]
		default:
			for i, c := range columns {
				if !table.Has(c) { // the column is a set of modes
					continue
				}
				t := table.Columns[table.Index(c)].Type
				f := fields[i]
				if (t == schema.String || t == schema.Label) && !slices.Contains(fixed, c) && f != "''" && f != "null" && f[0] != '<' && f != "(unknown)" {
					fields[i] += quoted
				}
			}
			line = " " + strings.Join(fields, " ")
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// call runs the program and returns what it prints.
func call(args ...string) (stdout, stderr string, status int) {
	var out, errs bytes.Buffer
	status = run(args, strings.NewReader(""), &out, &errs)
	return out.String(), errs.String(), status
}

// checkShown looks for characters, except line ends, that a terminal does not show as they are.
func checkShown(t *testing.T, what, text string, allowed string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Errorf("%s: not UTF-8", what)
	}
	for i, c := range text {
		if c != '\n' && !strings.ContainsRune(allowed, c) && unicode.In(c, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			t.Errorf("%s: %U in %q", what, c, text[max(0, i-40):min(len(text), i+40)])
			return
		}
	}
}

// ofDeclaredMetrics are the reports that select metrics by names that stackmill declares.
var ofDeclaredMetrics = []string{"conservation", "leaks", "allocations", "heap", "io-stacks", "samples", "sizes", "durations"}

// TestHostileNames prints stores with hostile names in every format and report. Tables and messages
// have only visible characters, and as many lines as with plain names; other formats have the names
// unchanged.
func TestHostileNames(t *testing.T) {
	for name, description := range map[string]string{"two": storetest.Two, "data": storetest.Data} {
		plain, store := storetest.New(t, description), storetest.New(t, hostile(description))
		verbs := [][]string{{"query", "FROM functions ORDER BY ALL"}}
		if name == "two" {
			verbs = append(verbs, []string{"experiments"}, []string{"problems"}, []string{"query", "SELECT name AS \"a\x1b[1m\" FROM functions ORDER BY ALL"})
		}
		for _, r := range report.Reports {
			if r.OfData == (name == "data") && !slices.Contains(ofDeclaredMetrics, r.Name) {
				verbs = append(verbs, []string{"report", r.Name, "--metric", "all"})
			}
		}
		for _, verb := range verbs {
			checkVerb(t, store, plain, verb)
		}
		for _, verb := range []string{"functions", "call-tree", "source"} {
			out, errs, _ := call("report", verb, "--inline", "--mode", "machine", "--store", store)
			checkShown(t, verb, out+errs, "\t")
		}
	}
}

// checkVerb prints a store with hostile names and the same one with plain names.
func checkVerb(t *testing.T, store, plain string, verb []string) {
	what := strings.Join(verb, " ")
	in := func(format, store string) (string, string) {
		out, errs, status := call(append(slices.Clone(verb), "--format", format, "--store", store)...)
		if status != 0 {
			t.Errorf("%s: status %d: %s", what, status, errs)
		}
		return out, errs
	}
	out, errs := in("table", store)
	tab := ""
	if strings.Contains(what, "source ") || strings.Contains(what, "disasm") {
		tab = "\t" // the lines of sources may have tabs
	}
	checkShown(t, what, out+errs, tab)
	want, _ := in("table", plain)
	if got, want := strings.Count(out, "\n"), strings.Count(want, "\n"); got != want {
		t.Errorf("%s: %d lines, want %d:\n%s", what, got, want, out)
	}
	if verb[0] != "query" {
		out, errs = in("markdown", store)
		checkShown(t, what, out+errs, "")
		if strings.Contains(out, "<b>") || strings.Contains(out, "![") {
			t.Errorf("%s: HTML or an image:\n%s", what, out)
		}
		checkBars(t, what, out)
	}
	out, _ = in("csv", store)
	checkCSV(t, what, out)
	out, _ = in("json", store)
	checkShown(t, what+" json", out, "")
	checkJSON(t, what, out)
}

// bars matches the ends of cells in a Markdown table.
var bars = regexp.MustCompile(`(^|[^\\])(\\\\)*\|`)

// checkBars checks that all rows have the same number of cells.
func checkBars(t *testing.T, what, out string) {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	want := len(bars.FindAllString(lines[0], -1))
	for _, line := range lines {
		if got := len(bars.FindAllString(line, -1)); got != want {
			t.Errorf("%s: %d bars, want %d: %s", what, got, want, line)
		}
	}
}

// checkCSV checks that the texts end as in the store.
func checkCSV(t *testing.T, what, out string) {
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
	checkTexts(t, what+" csv", rows)
}

func checkJSON(t *testing.T, what, out string) {
	var rows []map[string]any
	if err := json.Unmarshal([]byte(out), &rows); err != nil {
		t.Errorf("%s: json: %v", what, err)
	}
	var texts [][]string
	for _, row := range rows {
		for _, v := range row {
			if s, ok := v.(string); ok {
				texts = append(texts, []string{s})
			}
		}
	}
	checkTexts(t, what+" json", texts)
}

// checkTexts looks for texts with an incomplete ending.
func checkTexts(t *testing.T, what string, rows [][]string) {
	t.Helper()
	found := false
	folded := strings.ReplaceAll(ending, ";", ":") // in a folded stack, : replaces ;
	for _, row := range rows {
		for _, s := range row {
			s = strings.ReplaceAll(s, folded, ending)
			found = found || strings.Contains(s, ending)
			if rest := strings.ReplaceAll(s, ending, ""); strings.ContainsAny(rest, "\x1b\x07\u202e") && !strings.HasPrefix(s, "a\x1b") {
				t.Errorf("%s: %q", what, s)
				return
			}
		}
	}
	if len(rows) > 1 && !found {
		t.Errorf("%s: no hostile name", what)
	}
}

// Selecting by hostile names finds them, and error messages contain them.
func TestHostileChoices(t *testing.T) {
	store := storetest.New(t, hostile(storetest.Two))
	data := storetest.New(t, hostile(storetest.Data))
	function := "main" + strings.ReplaceAll(ending, "\x00", "\\x00") // a regular expression
	for _, test := range []struct {
		status int
		args   []string
	}{
		{0, []string{"report", "functions", "--store", store, "--function", "^ma.n\x1b"}},
		{0, []string{"report", "callers-callees", "--store", store, "--function", "^ma.n\x1b"}},
		{0, []string{"report", "source", "--store", store, "--function", "^ma.n\x1b"}},
		{0, []string{"report", "disasm", "--store", store, "--function", "^ma.n\x1b", "--alias", "perf"}},
		{0, []string{"report", "data-objects", "--store", data, "--object", "^.structure:rec_t.\x1b"}},
		{0, []string{"report", "functions", "--store", store, "--experiment", "monday/test.1.er" + ending}},
		{1, []string{"report", "functions", "--store", store, "--function", function}},
		{1, []string{"report", "functions", "--store", store, "--experiment", "test.2.er"}},
		{1, []string{"report", "functions", "--store", store, "--metric", "totalcpi"}},
		{1, []string{"report", "source", "--store", store, "--file", "a.d"}},
		{1, []string{"query", "--store", store, "SELECT name::INTEGER FROM functions WHERE name LIKE 'main%'"}},
		{1, []string{"query", "--store", store, "SELECT error(name) FROM functions WHERE name LIKE 'main%'"}},
		{0, []string{"explain", "--store", store, "--sample", "1", "--experiment", "aa"}},
		{1, []string{"explain", "--store", store, "--sample", "1"}},
		{1, []string{"report", "functions", "--store", "/nowhere\x1b[2J"}},
		{1, []string{"ingest", "--store", t.TempDir(), "--cache", "", "/nowhere\x1b[2J\n/x"}},
	} {
		if slices.Contains(test.args, "aa") {
			test.args[len(test.args)-1] = "00000000000000aa"
		}
		out, errs, status := call(test.args...)
		if status != test.status {
			t.Errorf("%q: status %d, want %d\n%s%s", test.args, status, test.status, out, errs)
		}
		tab := ""
		if args := strings.Join(test.args, " "); test.status != 0 || strings.Contains(args, "source") || strings.Contains(args, "disasm") {
			tab = "\t"
		}
		checkShown(t, fmt.Sprintf("%q", test.args), out+errs, tab)
		for i, line := range strings.Split(strings.TrimSpace(errs), "\n") {
			if i > 0 && !strings.HasPrefix(line, "  ") && !strings.HasPrefix(line, "stackmill: ") && !strings.HasPrefix(line, "time=") || errs != "" && !strings.HasPrefix(errs, "stackmill: ") && !strings.HasPrefix(errs, "time=") {
				t.Errorf("%q: the line %q", test.args, line)
			}
		}
	}
}

// Findings of check contain the names of a store's files, too.
func TestHostileFindings(t *testing.T) {
	store := storetest.New(t, hostile(storetest.Two))
	for _, path := range testfiles.Glob(t, filepath.Join(store, "commits", "*.json")) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		c, err := storedir.Decode(strings.TrimSuffix(filepath.Base(path), ".json"), data)
		if err != nil {
			t.Fatal(err)
		}
		c.Files[0].Table = "\x1b[2J\u202e\n"
		if data, err = c.Encode(); err == nil {
			err = os.WriteFile(path, data, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	out, errs, status := call("check", "--store", store)
	if status == 0 || !strings.Contains(out+errs, `\x1b[2J`) {
		t.Errorf("status %d: %s%s", status, out, errs)
	}
	checkShown(t, "check", out+errs, "")
}

// The shell completes no name with control characters.
func TestHostileCompletion(t *testing.T) {
	store := storetest.New(t, storetest.Two+"\nbatch 00000000000000cc x.er /x.er\nfunctions function_id name\n 1 plain\n 2 bad"+`\x1b[2J`+"\n")
	out, _, _ := call("__complete", "report", "functions", "--store", store, "--function", "")
	checkShown(t, "completion", out, "\t")
	if !strings.Contains(out, "plain\n") || strings.Contains(out, "bad") {
		t.Errorf("completed: %q", out)
	}
}

// TestHostileRecordings ingests recordings of a program with hostile names that are not UTF-8, from
// folders with such names (testdata/hostile). The store has UTF-8, with invalid bytes replaced; the
// values are the source's.
func TestHostileRecordings(t *testing.T) {
	dir := t.TempDir()
	if err := corpus.Unpack(filepath.Join("..", "..", "testdata", "hostile", "hostile.tar.gz"), dir); err != nil {
		t.Fatal(err)
	}
	const folder = "h\x1b[2J\xff\u202e\n"
	at := filepath.Join(dir, folder)
	if err := os.Rename(filepath.Join(dir, "hostile"), at); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"hostile.er", "hostile.data"} {
		if err := os.Rename(filepath.Join(at, name), filepath.Join(at, folder+name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(at, folder+".er"), nil, 0o666); err != nil { // is not an experiment
		t.Fatal(err)
	}
	store := filepath.Join(dir, "store")
	out, errs, status := call("ingest", "--store", store, "--cache", "", "--symfs", filepath.Join(at, "symfs"), at)
	if status != exit.Lost || !strings.Contains(out, "2 ingested") {
		t.Errorf("status %d: %s%s", status, out, errs)
	}
	checkShown(t, "ingest", out+errs, "")

	for _, args := range [][]string{{"check"}, {"problems"}, {"experiments"}, {"report", "functions", "--metric", "all"}, {"query", "SELECT error(name) FROM functions WHERE name LIKE 'work%'"}} {
		out, errs, _ := call(append(args, "--store", store)...)
		checkShown(t, args[0], out+errs, "")
		if args[0] == "check" && !strings.Contains(out, "nothing is wrong") {
			t.Errorf("check: %s%s", out, errs)
		}
	}

	// Every text of every table is UTF-8; the engine refuses others.
	for _, table := range schema.Tables {
		out, errs, status := call("query", "--format", "csv", "--store", store, "FROM "+table.Name)
		if status != 0 || !utf8.ValidString(out) {
			t.Errorf("%s: status %d: %s", table.Name, status, errs)
		}
	}
	const function = "work\x1b[2J\ufffd\u009b\u202e'\";<b>"
	for query, want := range map[string]string{
		"SELECT DISTINCT experiment FROM experiments WHERE samples > 0 ORDER BY ALL":                                                              `[{"experiment":"h\u001b[2J` + "\ufffd" + `\u202e\nhostile.data"},{"experiment":"h\u001b[2J` + "\ufffd" + `\u202e\nhostile.er"}]`,
		"SELECT function, exclusive, inclusive FROM function_metrics WHERE metric = 'heapallocbytes' AND mode = 'user' AND function LIKE 'work%'": `[{"function":` + string(terminal.MarshalJSON(function)) + `,"exclusive":0,"inclusive":100000}]`,
		"SELECT m.function, 2 * m.exclusive > t.exclusive AS most FROM function_metrics m, function_metrics t WHERE m.metric = 'cpu-clock:u' AND m.mode = 'user' AND m.function LIKE 'work%' AND t.experiment = m.experiment AND t.metric = m.metric AND t.mode = m.mode AND t.function = '<Total>'": `[{"function":` + string(terminal.MarshalJSON(function)) + `,"most":true}]`,
		"SELECT name FROM io_files WHERE name LIKE 'out%'":                                                           `[{"name":"out\u001b[2J` + "\ufffd" + `"}]`,
		"SELECT DISTINCT thread_name FROM samples_wide WHERE thread_name LIKE 'c%'":                                  `[{"thread_name":"c\u001b[2J` + "\ufffd" + `\nx"}]`,
		"SELECT DISTINCT parse_filename(file) AS f FROM locations WHERE file LIKE '%/a%.c' AND line BETWEEN 1 AND 8": `[{"f":"a\u001b[2J` + "\ufffd" + `.c"}]`,
	} {
		out, errs, _ := call("query", "--format", "json", "--store", store, query)
		if got := strings.NewReplacer("[\n", "[", ",\n", ",", "\n]\n", "]").Replace(out); got != want {
			t.Errorf("%s: got %s, want %s\n%s", query, got, want, errs)
		}
	}
}

// One very long name does not widen every row of a table.
func TestEndlessName(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	out, errs, status := call("query", "--store", store, "SELECT repeat(chr(27), CASE range WHEN 5 THEN 1_000_000 ELSE 1 END) AS a, range FROM range(1000)")
	if status != 0 || len(out) > 1002*(terminal.CellWidth+20) || !strings.Contains(out, "…") {
		t.Errorf("status %d, %d bytes\n%s", status, len(out), errs)
	}
}
