//go:build cgo

package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stackmill/internal/exit"
)

// heeded lists all options of each verb. Each has an effect; refused has the calls in which it has
// none.
var heeded = `
check: format json memory repair since sql
completion bash: no-descriptions
completion fish: no-descriptions
completion powershell: no-descriptions
completion zsh: no-descriptions
compact: dry-run format jobs json keep memory purge target-size
compare: api-only base between block by color cpu fdr format hide inclusive json level limit metric min-change min-share mode no-pager normalise pair pid strict test thread where
digest: api-only between color cpu experiment fdr format hide json limit metric min-share mode nights no-pager order pid series since strict thread where
experiments: color experiment format json limit no-pager strict wide
explain: color experiment format json no-pager sample stack strict
export: api-only as between by cpu experiment hide inline interval keep location metric mode output pid store-location strict summaries thread view watch where
forget: dry-run experiment format json keep-rollups limit older-than
gate: accept allow-first api-only base between block by cpu format hide inclusive json junit level limit max-increase metric min-share mode normalise pair pid rules strict test thread where
ingest: auto-compact cache chunk debug-dir experiment-timeout forgotten interval jobs kallsyms label label-from log-format memory metrics no-recorded-sources no-system-debug perf-map-dir plan recursive report settle source-path symfs verify vmlinux watch
label: experiment remove
mcp: answer max-bytes memory timeout
plan: chunks claim cpus forgotten from-file image ingest-option memory minutes output parallel program recursive report submit
plan retry: chunks claim cpus failed image ingest-option memory minutes output parallel program report submit
plan status: all format json limit
problems: all color experiment format json limit no-pager severity strict
query: as experiment file format json limit memory output strict threads timeout unsafe
record: cache call-graph debug-dir experiment-timeout frequency jobs kallsyms label memory no-recorded-sources no-system-debug output perf-map-dir pid source-path symfs system vmlinux waits with
report: alias api-only between by color cpu each experiment file format function hide inline json limit metric mode no-pager no-recorded-sources object pid sort source-path strict sum thread where wide width
resymbolize: cache debug-dir dry-run experiment experiment-timeout format jobs json kallsyms memory no-recorded-sources no-system-debug perf-map-dir source-path symfs vmlinux
serve: answer concurrent flight host listen max-bytes memory metrics-by metrics-functions no-token open queries timeout token-file unix waiting
trend: api-only between by color cpu experiment format function hide inclusive json limit metric mode no-pager normalise order pid points strict thread where
version: format json
`

// refused are calls in which the first option would have no effect.
var refused = []string{
	"alias: report timeline --alias perf",
	"allow-first: gate --base x --test y --allow-first",
	"api-only: compare --base x --test y --by data-object --api-only z",
	"api-only: report cpus --api-only x",
	"api-only: trend --api-only x",
	"as: query --as folded --format json SELECT",
	"by: export --as pprof --by thread -o x",
	"by: export --as pgo --by thread -o x",
	"cache-size: version --cache-size 1G",
	"call-graph: record --with gprofng --call-graph fp x",
	"chunk: ingest --chunk 1 x",
	"chunks: plan x -o y --chunks 2 --minutes 3",
	"experiment: explain --experiment x",
	"experiment: export --as iceberg --experiment x -o y",
	"experiment: export --summaries --experiment x -o y",
	"experiment: report --experiment x",
	"file: query --file x SELECT",
	"file: report functions --file x",
	"format: explain --format json",
	"function: report seconds --function f",
	"hide: compare --base x --test y --by data-object --hide z",
	"hide: gate --base x --test y --by data-object --hide z",
	"hide: report timeline --hide x",
	"hide: trend --hide x",
	"inline: export --as pprof --inline -o x",
	"inline: export --as callgrind --inline -o x",
	"inline: report stack-nodes --inline",
	"inline: report cut-stacks --inline",
	"inline: report source --format csv --inline",
	"interval: export --summaries --interval 1s -o x",
	"interval: ingest --interval 1s x",
	"keep: export --as pprof --keep 1s -o x",
	"limit: forget x --limit 3",
	"limit: query --limit 3 --format parquet SELECT",
	"limit: query --limit 3 --as folded SELECT",
	"limit: plan status x --format csv --limit 3",
	"json: compare --base x --test y --format csv --json",
	"limit: report --limit 3",
	"limit: trend --limit 3",
	"location: export --as pprof --location s3://x/y -o x",
	"by: report threads --by host",
	"by: report functions --each --by host",
	"each: report header --each",
	"mode: report --mode machine",
	"mode: report header --mode machine",
	"no-recorded-sources: report functions --no-recorded-sources",
	"object: report functions --object x",
	"pid: record --with gprofng --pid 1",
	"points: trend --points 3 --format json",
	"recursive: ingest --plan x --recursive",
	"report: ingest --plan x --report y",
	"settle: ingest --settle 1s x",
	"sum: report heap-calls --sum",
	"sum: report functions --sum --each",
	"sort: report call-tree --sort depth",
	"source-path: report functions --source-path x",
	"store: version --store x",
	"store-location: export --as pprof --store-location s3://x/y -o x",
	"strict: report --strict",
	"system: record --with gprofng --system",
	"thread: export --summaries --thread 1 -o x",
	"view: export --as pprof --view x -o x",
	"watch: export --as pprof --watch -o x",
	"watch: ingest --plan x --watch",
	"where: report --where true",
	"wide: experiments --wide --format csv",
	"wide: report call-tree --wide",
	"width: report functions --width 1ms",
}

// Every option of every verb is in the list, so that somebody checks what a new one changes.
func TestOptionsOfVerbs(t *testing.T) {
	var got []string
	var list func(prefix string, c *cobra.Command)
	list = func(prefix string, c *cobra.Command) {
		name := strings.TrimSpace(prefix + " " + c.Name())
		var flags []string
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) { flags = append(flags, f.Name) })
		slices.Sort(flags)
		if len(flags) > 0 {
			got = append(got, name+": "+strings.Join(flags, " "))
		}
		for _, sub := range c.Commands() {
			list(name, sub)
		}
	}
	for _, c := range newRoot(&app{}).Commands() {
		list("", c)
	}
	listed := strings.Split(strings.TrimSpace(heeded), "\n")
	slices.Sort(got)
	slices.Sort(listed)
	if diff := cmp.Diff(listed, got); diff != "" {
		t.Errorf("-listed +there\n%s", diff)
	}
}

// An option without effect is refused, by name.
func TestOptionsWithoutEffect(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, line := range refused {
		option, text, _ := strings.Cut(line, ": ")
		_, errs, status := call(strings.Fields(text)...)
		if status != exit.Usage || !strings.Contains(errs, "--"+option) {
			t.Errorf("stackmill %s: status %d, %s", text, status, errs)
		}
	}
}
