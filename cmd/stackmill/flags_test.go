//go:build cgo

package main

import (
	"strings"
	"testing"
)

// A flag refuses an invalid value before anything else happens.
func TestFlagValues(t *testing.T) {
	for call, want := range map[string]string{
		"report functions --format xml":         `report: --format: no format "xml" (choose one of table, csv, json, ndjson, markdown)`,
		"query --as svg x":                      `query: --as: no format "svg" (choose one of pprof, folded, speedscope)`,
		"query --memory 1X x":                   `query: --memory: "1X" is not a size (write 512M or 2G)`,
		"query --threads -1 x":                  `query: --threads: -1 is less than 0`,
		"problems --severity bad":               `problems: --severity: no severity "bad" (choose one of info, warning, error)`,
		"plan --submit pbs -o p x":              `plan: --submit: no scheduler "pbs" (choose one of slurm, k8s)`,
		"plan status --format xml p":            `plan status: --format: no format "xml" (choose one of table, csv, json, ndjson, markdown)`,
		"ingest --jobs 0 x":                     `ingest: --jobs: 0 is less than 1`,
		"ingest --experiment-timeout -1s x":     `ingest: --experiment-timeout: -1s is less than 0`,
		"resymbolize --memory 0":                `resymbolize: --memory: "0" is not a size (write 512M or 2G)`,
		"plan -o p --ingest-option=--jobs=0 x":  `plan: --ingest-option: invalid argument "0" for "--jobs" flag: 0 is less than 1`,
		"serve --max-bytes 1":                   `serve: --max-bytes: 1 is less than `,
		"report functions --limit many":         `report: invalid argument "many" for "--limit" flag: strconv.ParseInt`,
		"export --as iceberg -o f --keep -1h":   `export: --keep: -1h0m0s is less than 0`,
		"version --format csv":                  `version: --format: no format "csv" (choose one of table, json)`,
		"compact --target-size=":                `compact: --target-size: "" is not a size (write 512M or 2G)`,
		"gate --base a --test b --format junit": `gate: --format: no format "junit" (choose one of table, json)`,
	} {
		var out, errs strings.Builder
		if status := run(strings.Fields(call), strings.NewReader(""), &out, &errs); status != 2 || !strings.HasPrefix(errs.String(), "stackmill: "+want) || out.Len() > 0 {
			t.Errorf("%s: %d, %s%s", call, status, out.String(), errs.String())
		}
	}
}
