package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"stackmill/cmd/acceptance/golden"
	"stackmill/pipeline"
)

// display writes gprofng's report on an experiment, with the given metrics, to a file.
func display(ctx context.Context, work string, metrics []string, report, experiment string) (path string, err error) {
	var spec []string
	for _, m := range metrics {
		spec = append(spec, "e+"+m, "i+"+m)
	}
	cmd := exec.CommandContext(ctx, "gprofng", "display", "text", "-limit", "0", "-metrics", strings.Join(spec, ":")+":name", "-"+report, experiment)
	text, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%v: %w", cmd, err)
	}
	path = filepath.Join(work, "gprofng."+report)
	return path, os.WriteFile(path, text, 0o644)
}

// place is an instruction: its offset in a load object's file.
type place struct {
	object string
	offset int64
}

// shownFunction is a function as gprofng shows it.
type shownFunction struct {
	golden.Function
	values []string // by column
	places map[place]bool
	ours   *function // nil: the store divides the text differently
}

// peer compares an experiment in the store with gprofng's output.
type peer struct {
	content   *content
	files     *files
	metrics   []string
	columns   []golden.Column
	functions []*shownFunction
	pcs       golden.Table
	shown     map[place]bool // instructions in the list of PCs
	blocks    []golden.Table // callers and callees, in the order of functions
	raw       map[place]map[string]pair
	owners    map[place]*function
	result    *result
}

// compareGprofng ingests an experiment into a fresh store and compares it with gprofng's output.
func compareGprofng(ctx context.Context, name, experiment, work string) (*result, error) {
	content, err := ingest(ctx, experiment, pipeline.Options{Store: filepath.Join(work, "store"), DebugDirs: []string{debugFolder}})
	if err != nil {
		return nil, err
	}
	p := newPeer(name, content, newFiles(asRecorded))
	err = p.read(func(report string) (string, error) { return display(ctx, work, p.metrics, report, experiment) })
	if err != nil {
		return nil, fmt.Errorf("%s: %w", experiment, err)
	}
	return p.compare(), nil
}

func newPeer(name string, c *content, fs *files) *peer {
	return &peer{content: c, files: fs, metrics: slices.Sorted(maps.Keys(c.units)), result: &result{name: name, rules: map[string]int{}}}
}

// compare compares the two sides, after both were read.
func (p *peer) compare() *result {
	p.candidates()
	p.sum()
	p.place()
	p.checkPlaces()
	p.checkFunctions()
	p.result.unexplained += len(p.result.failed)
	return p.result
}

// read reads gprofng's reports from the files that path returns.
func (p *peer) read(path func(report string) (string, error)) error {
	tables := map[string][]golden.Table{}
	for _, report := range []string{"functions", "pcs", "callers-callees", "fsummary"} {
		path, err := path(report)
		if err != nil {
			return err
		}
		if report == "fsummary" {
			summary, err := golden.ReadFunctions(path)
			if err != nil {
				return err
			}
			for _, f := range summary {
				p.functions = append(p.functions, &shownFunction{Function: f, places: map[place]bool{}})
			}
			continue
		}
		if tables[report], err = golden.ReadTables(path); err != nil {
			return err
		}
	}
	if len(tables["functions"]) != 1 || len(tables["pcs"]) != 1 || len(tables["functions"][0].Rows) != len(p.functions) || len(tables["callers-callees"]) != len(p.functions) {
		return errors.New("gprofng's lists do not fit each other")
	}
	list := tables["functions"][0]
	for i, r := range list.Rows {
		p.functions[i].values = r.Values
	}
	p.columns, p.pcs, p.blocks = list.Columns, tables["pcs"][0], tables["callers-callees"]
	return nil
}
