//go:build cgo

package main

import (
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stackmill/internal/terminal"
)

// A flag refuses an invalid value before anything else happens.
func TestFlagValues(t *testing.T) {
	for call, want := range map[string]string{
		"report functions --format xml":         `report: --format: no format "xml" (choose one of table, csv, json, ndjson, markdown, html)`,
		"query --as odf x":                      `query: --as: no format "odf" (choose one of pprof, folded, speedscope`,
		"query --memory 1X x":                   `query: --memory: "1X" is not a size (write 512M or 2G)`,
		"query --threads -1 x":                  `query: --threads: -1 is less than 0`,
		"problems --severity bad":               `problems: --severity: no severity "bad" (choose one of info, warning, error)`,
		"plan --submit pbs -o p x":              `plan: --submit: no scheduler "pbs" (choose one of slurm, k8s)`,
		"plan status --format xml p":            `plan status: --format: no format "xml" (choose one of table, csv, json, ndjson, markdown)`,
		"ingest --jobs 0 x":                     `ingest: --jobs: 0 is less than 1`,
		"ingest --experiment-timeout -1s x":     `ingest: --experiment-timeout: -1s is less than 0`,
		"resymbolize --memory 0":                `resymbolize: --memory: "0" is not a size (write 512M or 2G)`,
		"plan -o p --ingest-option=--jobs=0 x":  `plan: --ingest-option: --jobs: 0 is less than 1`,
		"serve --max-bytes 1":                   `serve: --max-bytes: 1 is less than `,
		"report functions --limit many":         `report: --limit: "many" is not a whole number (write 20)`,
		"report functions --limit 1e30":         `report: --limit: "1e30" is not a whole number (write 20)`,
		"report functions --thread a,b":         `report: --thread: "a,b" is not a list of whole numbers (write 17 or 17,18)`,
		"report functions --inline=perhaps":     `report: --inline: "perhaps" is neither true nor false`,
		"report functions --mode kernel":        `report: --mode: no mode "kernel" (choose one of user, expert, machine)`,
		"report functions --limi 3":             `report: --limi: no such option, did you mean --limit? (see stackmill report --help)`,
		"report functions -q":                   `report: -q: no such option (see stackmill report --help)`,
		"report functions --metric":             `report: --metric: no value is given (see stackmill report --help)`,
		"report functions --json --format csv":  `report: --format: "csv" and --json exclude each other (give one of them)`,
		"report functions --format csv --json":  `report: --json: it and --format csv exclude each other (give one of them)`,
		"compare --experiment x":                `compare: --experiment: no such option: --base and --test select experiments here (see stackmill compare --help)`,
		"compare a b":                           `compare: unexpected arguments: --base and --test select experiments (write --base a --test b)`,
		"gate --base a --max-increase nan":      `gate: --max-increase: "nan" is not a percentage (write 3% or 0.03)`,
		"compare --base a --test b --fdr 0":     `compare: --fdr: 0% is not between 0% and 100%`,
		"compare --base a --test b --level 2":   `compare: --level: 200% is not between 0% and 100%`,
		"export --as iceberg -o f --keep -1h":   `export: --keep: -1h0m0s is less than 0`,
		"version --format csv":                  `version: --format: no format "csv" (choose one of table, json)`,
		"compact --target-size=":                `compact: --target-size: "" is not a size (write 512M or 2G)`,
		"gate --base a --test b --format junit": `gate: --format: no format "junit" (choose one of table, markdown, json)`,
		"forget --older-than soon":              `forget: --older-than: "soon" is not an age (write 90d, 2w or 36h)`,
		"--verzion":                             `--verzion: no such option, did you mean --version? (see stackmill --help)`,
		"query a b":                             `query: unexpected argument "b": this verb takes one SQL text, in quotes (see stackmill query --help)`,
		"plan status":                           `plan status: no FILE is given (see stackmill plan status --help)`,
		"completion tcsh":                       `completion: no shell "tcsh" (choose one of bash, fish, powershell, zsh)`,
		"completion bash x":                     `completion bash: unexpected argument "x"`,
		"help repotr":                           `help: repotr: no such verb, did you mean report?`,
	} {
		var out, errs strings.Builder
		if status := run(strings.Fields(call), strings.NewReader(""), &out, &errs); status != 2 || !strings.HasPrefix(errs.String(), "stackmill: "+want) || out.Len() > 0 {
			t.Errorf("%s: %d, %s%s", call, status, out.String(), errs.String())
		}
	}
}

// wrongValues are values that flags refuse as soon as they are parsed, by the type of the flag.
var wrongValues = map[string][]string{
	"bool":       {"perhaps", "2"},
	"int":        {"many", "1.5", "1e3", "", "-1", strings.Repeat("9", 30)},
	"int64":      {"many", "1.5", "", strings.Repeat("9", 30)},
	"int64Slice": {"many", "1,x", "1.5", strings.Repeat("9", 30)},
	"float64":    {"many", "", "-1", "nan", "inf"},
	"duration":   {"soon", "10", "", "-1s"},
	"PERCENT":    {"many", "", "-1%", "nan", "inf"},
	"strings":    {"", "a,,b"},
}

// wrongTexts are the values that text flags refuse as soon as they are parsed, by the flag's name.
// Flags with a list of accepted names refuse all others.
var wrongTexts = map[string][]string{
	"memory":      {"many", "1X", "0", "-1M"},
	"target-size": {"many", "1X", "0", "-1M", ""},
	"older-than":  {"soon", "-1d", ""},
	"cache-size":  {"many", "1X", "0", ""},
	"listen":      {"x", "127.0.0.1:x", "127.0.0.1:99999", ""},
	"flight":      {"x", "127.0.0.1:x", "127.0.0.1:99999", ""},
	"call-graph":  {"x", "dwarf,x", "fp,1", "dwarf,0", ""},
}

// freeTexts are flags that accept any text, or whose values are checked later: names of files and
// addresses, SQL, names in the store, and texts that the verb splits.
var freeTexts = strings.Fields(`base between block cache claim debug-dir experiment file from-file function host image ingest-option
	junit kallsyms label label-from location metric metrics metrics-by object open order output pair perf-map-dir pid plan program queries remove report rules
	series since sort source-path stack store-location symfs test token-file unix view vmlinux where`)

// goWords matches words that messages must not contain: names of Go's packages and types, and words of
// the library that parses flags.
var goWords = regexp.MustCompile(`strconv|time: |invalid argument|pflag|cobra|arg\(s\)|unknown (shorthand )?flag|flag needs|parsing |%!|0x[0-9a-f]{6}|<nil>|\[\]|\{`)

// Every flag of every verb refuses wrong values with a message for people, which names the verb, the
// flag, the value and the accepted values.
func TestEveryFlagRefusesWrongValues(t *testing.T) {
	walked, calls := 0, 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			walked++
			for _, value := range wrongFor(t, c, f) {
				calls++
				refuses(t, verbOf(c), f.Name, value)
			}
		})
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	root := newRoot(&app{stdin: strings.NewReader(""), Output: terminal.Output{Stdout: io.Discard, Stderr: io.Discard}})
	walk(root)
	for _, value := range wrongTexts["cache-size"] {
		refuses(t, "", "cache-size", value)
	}
	if walked < 200 || calls < 300 {
		t.Errorf("walked %d flags with %d values", walked, calls)
	}
	t.Logf("%d flags, %d wrong values", walked, calls)
}

// wrongFor returns wrong values of a flag.
func wrongFor(t *testing.T, c *cobra.Command, f *pflag.Flag) []string {
	kind := f.Value.Type()
	if values, ok := wrongValues[kind]; ok {
		if f.Name == "hide" || f.Name == "api-only" {
			return wrongValues["strings"]
		}
		return values
	}
	if values, ok := wrongTexts[f.Name]; ok {
		return values
	}
	if slices.Contains(freeTexts, f.Name) || f.Name == "by" && (verbOf(c) == "trend" || verbOf(c) == "report") {
		return nil
	}
	if complete, ok := c.GetFlagCompletionFunc(f.Name); ok {
		if names, _ := complete(c, nil, ""); len(names) > 0 {
			return []string{"no-such-name", "", names[0] + "x"}
		}
	}
	t.Errorf("%s --%s: a flag of type %s, about whose wrong values no list says anything", verbOf(c), f.Name, kind)
	return nil
}

// refuses calls a verb with a wrong value of a flag, and checks the message.
func refuses(t *testing.T, verb, flag, value string) {
	t.Helper()
	out, errs, status := call(append(strings.Fields(verb), "--"+flag+"="+value)...)
	line, rest, _ := strings.Cut(errs, "\n")
	begin := strings.TrimSpace("stackmill: " + verb)
	if verb != "" {
		begin += ":"
	}
	switch {
	case status != 2 || out != "" || rest != "":
		t.Errorf("%s --%s=%s: status %d\n%s%s", verb, flag, value, status, out, errs)
	case !strings.HasPrefix(line, begin+" --"+flag+": "):
		t.Errorf("%s --%s=%s: not about the verb and the flag: %s", verb, flag, value, line)
	case !namesValue(line, value):
		t.Errorf("%s --%s=%s: the message lacks the value: %s", verb, flag, value, line)
	case !strings.Contains(line, "(write ") && !strings.Contains(line, "(choose one of ") && !regexp.MustCompile(`less than|between|neither true nor false|too large|not positive|above 0|lists them`).MatchString(line):
		t.Errorf("%s --%s=%s: the message does not say what is accepted: %s", verb, flag, value, line)
	case goWords.MatchString(line):
		t.Errorf("%s --%s=%s: not in words for people: %s", verb, flag, value, line)
	}
}

// namesValue reports whether a message has a value, as it was given or as it was read.
func namesValue(line, value string) bool {
	if strings.Contains(line, strconv.Quote(value)) || value == "" && strings.Contains(line, "empty") {
		return true
	}
	return value != "" && strings.Contains(strings.ToLower(line), strings.TrimSuffix(value, "%"))
}
