package main

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stackmill/internal/terminal"
	"stackmill/internal/testfiles"
	"stackmill/queries/console"
	"stackmill/queries/report"
)

// An unrunCommand is a command of a page that no test runs as it stands there, and why. Its verbs, flags, targets
// and files are checked nonetheless. In console blocks it is one command, else the first line of a block.
type unrunCommand struct{ page, command, why string }

var unrunCommands = []unrunCommand{
	{"README.md", "make build", "builds the program that runs the test"},
	{"README.md", "perf record", "needs the counters of perf, gprofng and a server in Go"},
	{"README.md", "stackmill record ./program", "serve --open starts a browser; TestRecord runs the verb"},
	{"docs/agents.md", "claude mcp add", "needs an agent; TestAgents runs the verb"},
	{"docs/cluster.md", "make worker\n", "TestWorker builds the worker"},
	{"docs/cluster.md", "make worker && podman", "needs podman"},
	{"docs/cluster.md", "stackmill ingest --plan FILE", "a form; the simulated Slurm at the top of the page runs it"},
	{"docs/cluster.md", "cmd/acceptance/faults/testdata/slurm.sh", "needs root and Slurm; TestSlurm runs it"},
	{"docs/cluster.md", "stackmill plan --recursive /data/recordings --store /data/store -o", "needs Kubernetes"},
	{"docs/cluster.md", "seq 0 3", "needs GNU parallel"},
	{"docs/cluster.md", "export AWS_ENDPOINT_URL", "needs S3; cmd/acceptance/s3 runs these verbs"},
	{"docs/cookbook.md", "stackmill ingest --label", "cookbookStore has these arguments, with the paths of testdata"},
	{"docs/dashboards.md", "stackmill export --summaries --watch", "runs until a signal; its SQL is run over such a folder"},
	{"docs/dashboards.md", "stackmill query --store /data/store", "its SQL is run"},
	{"docs/development.md", "make build test", "runs the tests"},
	{"docs/export.md", "speedscope ", "starts a browser; cmd/acceptance/export reads the file with speedscope's code"},
	{"docs/export.md", "callgrind_annotate", "needs Valgrind; cmd/acceptance/export runs it"},
	{"docs/export.md", "clang ", "needs clang; cmd/acceptance/export runs it"},
	{"docs/export.md", "go build", "needs the program's sources; cmd/acceptance/export runs it"},
	{"docs/export.md", "stackmill export --as iceberg -o lake", "needs S3"},
	{"docs/export.md", "-- Spark: ", "needs the engines, as the page says"},
	{"docs/gprofng.md", "gprofng collect", "needs gprofng; the ingest is in the README"},
	{"docs/operations.md", "stackmill ingest --recursive --store /data/store", "writes where node_exporter reads; the next command has the other options"},
	{"docs/operations.md", "stackmill ingest --watch", "runs until a signal; TestWatch runs it"},
	{"docs/operations.md", "#!/bin/sh", "needs Slurm"},
	{"docs/perf.md", "# Time on CPUs of one program", "needs permissions; TestPerfCommands runs the block"},
	{"docs/performance.md", "make bench", "takes minutes"},
	{"docs/performance.md", "perf record", "records the program itself; its SQL is run"},
	{"docs/performance.md", "bin/stackmill query", "its SQL is run"},
	{"docs/serve.md", "stackmill serve ", "runs until a signal; demoServer starts it"},
	{"docs/serve.md", "openssl rand", "demoServer makes the token"},
	{"docs/serve.md", "chmod 600", "demoServer makes the files"},
	{"docs/serve.md", "echo ", "demoServer makes the files"},
	{"docs/serve.md", "curl --unix-socket", "needs a second server; TestServeUnix asks one"},
	{"docs/store.md", "stackmill resymbolize", "needs a store without symbols; cmd/stackmill/testdata/script/resymbolize.txtar runs it"},
	{"docs/store.md", "stackmill query --format csv", "its SQL is run"},
	{"docs/store.md", "SELECT f.name, sum(v.exclusive) AS ns", "TestDocumentedEngines runs it in DuckDB and Polars; Spark and ClickHouse are not there"},
	{"docs/compare.md", "-- parsing may not take", "the page's last gate reads it as rules.sql"},
	{"docs/development.md", "-- row: one function", "a form"},
	{"docs/views.md", "FROM compare_functions('monday.er'", "no store has these names; TestMacrosForPeople calls the macro"},
	{"docs/dashboards.md", "SELECT function, load_object, sum(exclusive) / 1e9 AS seconds\nFROM file(", "needs ClickHouse"},
}

// findReason returns the entry of unrunCommands for a command or block of a page, or nil.
func findReason(page, text string) *unrunCommand {
	for i, c := range unrunCommands {
		if c.page == page && strings.HasPrefix(text, c.command) {
			return &unrunCommands[i]
		}
	}
	return nil
}

// foreignPrograms are other programs that pages name outside of console blocks.
var foreignPrograms = strings.Fields(`. [ aws callgrind_annotate cat cd chmod chroot claude clang cp curl debuginfod-find duckdb echo er_print exit export flamegraph.pl flock gcc gprofng
	go grep head jq ln make nice nm node npm openssl parallel perf podman pprof sbatch seq setfacl source speedscope ssh sysctl tail tar test touch`)

// foreignFlags are the long options of other programs that pages name on their own.
var foreignFlags = strings.Fields(`--all-cgroups --buildid-all --buildid-mmap --call-graph --control --overwrite --filter --phys-data --sample-cpu --signal
	--sshloginfile --switch-events --switch-output --tid --time --user-callchains --user-regs`)

// blockLanguages says how the commands in blocks of a language are checked.
var blockLanguages = map[string]func(c *commandChecker, b docBlock){
	"console": (*commandChecker).console, "sh": (*commandChecker).shell, "sql": (*commandChecker).sqlBlock, "json": (*commandChecker).other,
	"python": (*commandChecker).other, "yaml": (*commandChecker).other, "ini": (*commandChecker).other, "crontab": (*commandChecker).other,
	"groovy": (*commandChecker).other, "js": (*commandChecker).other, "nginx": (*commandChecker).other,
	"text": nil, "c": nil, "xml": nil, "": nil, // these have no commands; blocks without a language are answers in the cookbook
}

// TestDocumentedCommands finds every command in README.md, SECURITY.md and docs, in code blocks and in prose.
// A test runs it, or its verbs, flags, make targets, tests and files exist, and unrunCommands says
// why nothing runs it. With -v, it lists them.
func TestDocumentedCommands(t *testing.T) {
	pages := []string{"README.md", "SECURITY.md"}
	for _, pattern := range []string{"docs/*.md", "docs/formats/*.md"} {
		found := testfiles.Glob(t, "../../"+pattern)
		for _, page := range found {
			pages = append(pages, strings.TrimPrefix(page, "../../"))
		}
	}
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	c := &commandChecker{t: t, makefile: string(makefile), counts: map[string]int{}, used: map[*unrunCommand]bool{}, flags: map[string]bool{}}
	c.openStore()
	for _, verb := range newRoot(&app{}).Commands() {
		c.verbs = append(c.verbs, verb.Name())
		verb.Flags().VisitAll(func(f *pflag.Flag) { c.flags["--"+f.Name] = true })
		for _, below := range verb.Commands() {
			below.Flags().VisitAll(func(f *pflag.Flag) { c.flags["--"+f.Name] = true })
		}
	}
	newRoot(&app{}).PersistentFlags().VisitAll(func(f *pflag.Flag) { c.flags["--"+f.Name] = true })
	for _, flag := range append([]string{"--help", "--version"}, foreignFlags...) {
		c.flags[flag] = true
	}
	for _, page := range pages {
		text, err := os.ReadFile("../../" + page)
		if err != nil {
			t.Fatal(err)
		}
		c.page = page
		c.checkPage(string(text))
	}
	c.checkExamples(newRoot(&app{}))
	for i := range unrunCommands {
		if !c.used[&unrunCommands[i]] {
			t.Errorf("%s has no %q, which is said not to be run", unrunCommands[i].page, unrunCommands[i].command)
		}
	}
	c.checkReasons()
	for _, how := range slices.Sorted(maps.Keys(c.counts)) {
		t.Logf("%4d %s", c.counts[how], how)
	}
	if c.counts[runCompared] < 100 {
		t.Errorf("only %d commands are run with their output compared", c.counts[runCompared])
	}
}

// checkExamples checks the examples in the help of a verb and of those below it.
func (c *commandChecker) checkExamples(verb *cobra.Command) {
	c.page = "help of " + verb.CommandPath()
	for line := range strings.Lines(verb.Example) {
		c.note(checkedOnly, line)
		c.script(line)
	}
	for _, below := range verb.Commands() {
		c.checkExamples(below)
	}
}

// checkReasons checks that the tests which unrunCommands names exist.
func (c *commandChecker) checkReasons() {
	var tests strings.Builder
	err := filepath.WalkDir("../..", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == ".git"):
			return filepath.SkipDir
		case strings.HasSuffix(name, "_test.go"):
			text, err := os.ReadFile(name)
			tests.Write(text)
			return err
		}
		return nil
	})
	if err != nil {
		c.t.Fatal(err)
	}
	for _, unrun := range unrunCommands {
		for _, test := range regexp.MustCompile(`\bTest[A-Z]\w+`).FindAllString(unrun.why, -1) {
			if !strings.Contains(tests.String(), "func "+test+"(") {
				c.t.Errorf("%s: %s: there is no test %s", unrun.page, unrun.command, test)
			}
		}
	}
}

// How commands are checked.
const (
	runCompared = "run, output compared"
	runOnly     = "run"
	checkedOnly = "verbs, flags, targets and files checked"
)

type commandChecker struct {
	t        *testing.T
	page     string
	makefile string
	verbs    []string
	flags    map[string]bool
	counts   map[string]int
	used     map[*unrunCommand]bool
	prompt   *console.Console
	printed  *strings.Builder // messages of the SQL prompt
}

// A docBlock is a fenced block of a page.
type docBlock struct{ language, text string }

var (
	docFence  = regexp.MustCompile("(?ms)^( *)```(\\w*)\n(.*?)^ *```$")
	codeSpan  = regexp.MustCompile("(`+)([^`]+)`+") // between two backticks or more: text with backticks
	indented  = regexp.MustCompile(`(?m)\n\n((?:    ).*)$`)
	startSQL  = regexp.MustCompile(`^(?:SELECT|FROM|DESCRIBE|WITH|SUMMARIZE) \S`)
	tripleSQL = regexp.MustCompile(`(?s)"""(.*?)"""|"sql": "(.*?)"\}`)
	ourVerb   = regexp.MustCompile(`stackmill (?:[a-z].*)`)
)

func (c *commandChecker) checkPage(text string) {
	for _, m := range docFence.FindAllStringSubmatch(text, -1) {
		b := docBlock{m[2], regexp.MustCompile("(?m)^"+m[1]).ReplaceAllString(m[3], "")}
		check, known := blockLanguages[b.language]
		switch {
		case !known || b.language == "" && c.page != "docs/cookbook.md":
			c.t.Errorf("%s: no rule for code blocks of the language %q: %.60s", c.page, b.language, b.text)
		case check != nil:
			check(c, b)
		}
	}
	prose := docFence.ReplaceAllString(text, "")
	for _, m := range indented.FindAllStringSubmatch(prose, -1) {
		if !regexp.MustCompile(`(?m)^(?:\* |\d+\. ).*\n(?:.*\n)*?\n` + regexp.QuoteMeta(m[1])).MatchString(prose) {
			c.t.Errorf("%s: a code block without a fence and a language: %s", c.page, m[1])
		}
	}
	for _, paragraph := range regexp.MustCompile(`\n\n|\n\|`).Split(prose, -1) {
		for _, m := range codeSpan.FindAllStringSubmatch(paragraph, -1) {
			if words := strings.Fields(m[2]); m[1] == "`" && len(words) > 0 {
				c.span(strings.Join(words, " "))
			}
		}
	}
}

func (c *commandChecker) note(how, command string) {
	c.counts[how]++
	c.t.Logf("%s: %s: %.100s", c.page, how, strings.Join(strings.Fields(command), " "))
}

func (c *commandChecker) console(b docBlock) {
	isRun := slices.ContainsFunc(consolePages, func(p consolePage) bool { return p.page == c.page })
	if !isRun {
		c.t.Errorf("%s: TestConsoleBlocks does not run this page", c.page)
	}
	for _, command := range consoleCommands(c.t, b.text) {
		if r := findReason(c.page, command.script); r != nil {
			c.used[r] = true
			c.note(checkedOnly, command.script)
		} else {
			c.note(runCompared, command.script)
		}
		c.script(command.script)
	}
}

func (c *commandChecker) shell(b docBlock) {
	r := findReason(c.page, b.text)
	if r == nil {
		c.t.Errorf("%s: no test runs this, and unrunCommands does not say why: %.100s", c.page, b.text)
		return
	}
	c.used[r] = true
	c.script(b.text)
	if out, err := exec.CommandContext(c.t.Context(), "bash", "-n", "-c", b.text).CombinedOutput(); err != nil {
		c.t.Errorf("%s: %v: %s", c.page, err, out)
	}
	for _, words := range shellCommands(b.text) {
		c.note(checkedOnly, strings.Join(words, " "))
	}
}

func (c *commandChecker) sqlBlock(b docBlock) {
	if c.page == "docs/cookbook.md" {
		c.note(runCompared, b.text) // TestCookbook compares it
		return
	}
	c.sql(b.text)
}

// other checks commands and SQL in a block of another language.
func (c *commandChecker) other(b docBlock) {
	for line := range strings.Lines(b.text) {
		if command := ourVerb.FindString(line); command != "" {
			for _, quote := range []string{`"`, "'"} {
				if strings.Count(command, quote)%2 == 1 {
					command = command[:strings.LastIndex(command, quote)]
				}
			}
			c.note(checkedOnly, command)
			c.script(command)
		}
	}
	for _, m := range tripleSQL.FindAllStringSubmatch(b.text, -1) {
		if sql := m[1] + m[2]; !strings.Contains(sql, "'store/tables/") { // TestDocumentedEngines runs that
			c.sql(strings.ReplaceAll(sql, "${metric:sqlstring}", "'totalcpu'"))
		}
	}
}

// span checks a command in prose.
func (c *commandChecker) span(text string) {
	words := strings.Fields(text)
	first := words[0]
	isFlag := strings.HasPrefix(first, "--") && len(first) > 2
	switch {
	case strings.HasPrefix(text, "stackmill "):
		if strings.HasPrefix(c.page, "docs/from-") {
			c.note(runOnly, text) // TestMigration runs it
		} else {
			c.note(checkedOnly, text)
		}
		c.script(text)
	case slices.Contains(c.verbs, first) && len(words) > 1 && (strings.HasPrefix(words[1], "--") || first == "report" && words[1] != "NAME"):
		c.note(checkedOnly, text)
		c.script("stackmill " + text)
	case startSQL.MatchString(text) && !strings.Contains(text, "..."):
		c.sql(text)
	case isFlag && !strings.HasPrefix(c.page, "docs/from-") && !strings.HasPrefix(c.page, "docs/formats/"):
		if flag := regexp.MustCompile(`^--[a-z0-9-]+`).FindString(first); !c.flags[flag] {
			c.t.Errorf("%s: no verb has the flag %s", c.page, first)
		}
	case strings.HasPrefix(c.page, "docs/formats/"): // these pages name commands of other programs
	case first == "make" && len(words) > 1, regexp.MustCompile(`\bgo (?:test|build|run) `).MatchString(text), strings.Contains(text, " --"):
		c.note(checkedOnly, text)
		c.script(text)
	}
}

// script checks the commands of a shell script.
func (c *commandChecker) script(script string) {
	for _, words := range shellCommands(script) {
		for i, word := range words {
			if strings.HasPrefix(word, "stackmill ") {
				c.script(word)
			}
			if isOurs(word) && i+1 < len(words) {
				c.verb(words[i+1:])
				break
			}
		}
		switch program := words[0]; {
		case program == "make":
			for _, target := range words[1:] {
				if !strings.ContainsAny(target, "=-") && !regexp.MustCompile(`(?m)^`+target+`:`).MatchString(c.makefile) {
					c.t.Errorf("%s: make has no target %s", c.page, target)
				}
			}
		case program == "go" && len(words) > 1 && words[1] == "test":
			c.goTest(words[2:])
		case isOurs(program):
		case strings.Contains(program, "/"):
			if _, err := os.Stat("../../" + program); err != nil {
				c.t.Errorf("%s: %v", c.page, err)
			}
		case !slices.Contains(foreignPrograms, program):
			c.t.Errorf("%s: no rule for the program %s: %s", c.page, program, strings.Join(words, " "))
		}
	}
}

func isOurs(program string) bool {
	return slices.Contains([]string{"stackmill", "bin/stackmill", "/usr/local/bin/stackmill"}, program)
}

// placeholder matches words that stand for a value.
var placeholder = regexp.MustCompile(`^(?:N|\{.*\}|\$.*|[A-Z][A-Z0-9_]*=?\.*)$`)

// verb checks a command of ours: its verb, flags and the number of arguments.
func (c *commandChecker) verb(args []string) {
	a := &app{stdin: strings.NewReader(""), Output: terminal.Output{Stdout: &strings.Builder{}, Stderr: &strings.Builder{}}}
	root := newRoot(a)
	root.InitDefaultHelpCmd()
	if placeholder.MatchString(args[0]) {
		return
	}
	line := strings.Join(args, " ")
	verb, rest, err := root.Find(args)
	if err == nil && verb == root && !strings.HasPrefix(args[0], "-") {
		err = fmt.Errorf("no verb %s", args[0])
	}
	if err == nil {
		err = parseVerb(verb, rest)
	}
	if err != nil {
		c.t.Errorf("%s: stackmill %s: %v", c.page, line, err)
		return
	}
	if named := verb.Flags().Args(); verb.Name() == "report" && len(named) > 0 && !placeholder.MatchString(named[0]) &&
		!slices.ContainsFunc(report.Reports, func(r report.Report) bool { return r.Name == named[0] }) {
		c.t.Errorf("%s: there is no report %s", c.page, named[0])
	}
	if named := verb.Flags().Args(); verb.Name() == "query" && !slices.Contains(args, "--unsafe") && len(named) > 0 && !placeholder.MatchString(named[0]) && !strings.Contains(named[0], "...") {
		c.sql(named[0])
	}
}

func parseVerb(verb *cobra.Command, args []string) error {
	args = slices.Clone(args)
	for i, word := range args {
		name, value, given := strings.Cut(word, "=")
		if given && strings.HasPrefix(name, "--") && (placeholder.MatchString(value) || value == "...") {
			args[i] = name + "=1"
		} else if i > 0 && strings.HasPrefix(args[i-1], "-") && placeholder.MatchString(word) {
			args[i] = "1"
		}
	}
	verb.InitDefaultHelpFlag()
	if err := verb.ParseFlags(args); err != nil {
		// a flag without its value
		if last := args[len(args)-1]; strings.HasPrefix(last, "--") && verb.Flags().Lookup(strings.TrimPrefix(last, "--")) != nil {
			return nil
		}
		return err
	}
	return nil
}

// goTest checks that the tests which a command names exist.
func (c *commandChecker) goTest(args []string) {
	if i := slices.Index(args, "-run"); i >= 0 && i+1 < len(args) {
		for _, arg := range args {
			if !strings.HasPrefix(arg, "./") {
				continue
			}
			sources := testfiles.Glob(c.t, "../../"+arg+"/*_test.go")
			if !slices.ContainsFunc(sources, func(name string) bool {
				text, err := os.ReadFile(name)
				return err == nil && (strings.Contains(string(text), "func "+args[i+1]) || strings.Contains(string(text), "func Test"+args[i+1]))
			}) {
				c.t.Errorf("%s: %s has no test %s", c.page, arg, args[i+1])
			}
		}
	}
}

// openStore opens the store in which SQL is run.
func (c *commandChecker) openStore() {
	var stdout strings.Builder
	c.printed = &strings.Builder{}
	a := &app{store: cookbookStore(c.t), Output: terminal.Output{Stdout: &stdout, Stderr: c.printed}}
	db, err := a.open(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	if c.prompt, err = console.Open(c.t.Context(), &a.Output, db, console.Options{}); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { c.prompt.Close() })
}

// sql runs SQL of a page.
func (c *commandChecker) sql(text string) {
	if r := findReason(c.page, text); r != nil {
		c.used[r] = true
		c.note(checkedOnly, text)
		return
	}
	c.note(runOnly, text)
	c.printed.Reset()
	if err := c.prompt.Run(c.t.Context(), text, "csv", ""); err != nil || c.printed.Len() > 0 {
		c.t.Errorf("%s: %s: %v %s", c.page, text, err, c.printed)
	}
}

// shellCommands returns the words of a script's simple commands, without assignments, redirections and
// keywords. It knows as much of the shell as the pages use.
func shellCommands(script string) (list [][]string) {
	var words []string
	end := func() {
		for len(words) > 0 && (slices.Contains(shellKeywords, words[0]) || regexp.MustCompile(`^\w+=`).MatchString(words[0])) {
			words = words[1:]
		}
		if len(words) > 0 && words[0] != "for" && !strings.HasPrefix(words[0], "#") {
			list = append(list, words)
		}
		words = nil
	}
	skip := false // the next word is a file of a redirection
	for _, m := range shellToken.FindAllStringSubmatch(strings.ReplaceAll(script, "\\\n", " "), -1) {
		switch token := m[0]; {
		case strings.TrimLeft(token, " \t") == "":
		case token[0] == '#':
		case m[1] != "": // an operator
			end()
		case m[2] != "": // a redirection
			skip = !strings.Contains(token, "&")
		case skip:
			skip = false
		default:
			words = append(words, unquote(token))
		}
	}
	end()
	return list
}

var (
	shellKeywords = strings.Fields("if then else fi do done while ! exec command { }")
	shellToken    = regexp.MustCompile(`[ \t]+|#[^\n]*|(\|\||&&|[|;&()\n])|(\d?>>?(?:&\d)?|<)|(?:'[^']*'|"(?:[^"\\]|\\.)*"|\$\(\(.*?\)\)|\$\([^)]*\)|\$\{[^}]*\}|\\.|[^ \t\n|;&()<>'"#]|#)+`)
)

func unquote(token string) string {
	return regexp.MustCompile(`'[^']*'|"(?:[^"\\]|\\.)*"`).ReplaceAllStringFunc(token, func(q string) string {
		if q[0] == '\'' {
			return q[1 : len(q)-1]
		}
		return strings.NewReplacer(`\"`, `"`, `\$`, `$`).Replace(q[1 : len(q)-1])
	})
}

func TestShellCommands(t *testing.T) {
	for script, want := range map[string]string{
		`a b | c 'd e' > f; g`:                       "[[a b] [c d e] [g]]",
		`A=1 B=2 a "b c" \` + "\n d # x\ne 2>&1":     "[[a b c d] [e]]",
		`[ -d "$x" ] || exit 0`:                      `[[[ -d $x ]] [exit 0]]`,
		`n=$(head -1 f | jq '.x')`:                   "[]",
		`for i in $(seq 3); do a $i; done; a >>"$b"`: "[[a $i] [a]]",
	} {
		if got := fmt.Sprint(shellCommands(script)); got != want {
			t.Errorf("%s: %s, want %s", script, got, want)
		}
	}
}
