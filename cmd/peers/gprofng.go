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

// display writes a report of gprofng about an experiment to a file, with the given metrics, and
// returns its path.
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

// place identifies an instruction, by its offset in the file of a load object.
type place struct {
	object string
	offset int64
}

// shownFunction is a function in gprofng's list, with its instructions.
type shownFunction struct {
	golden.Function
	values []string // one for each of peer.columns
	places map[place]bool
	ours   *function // the same function in the store; nil: the store divides the code differently
}

// peer compares an experiment in the store with gprofng's reports.
type peer struct {
	content   *content
	files     *files
	metrics   []string
	columns   []golden.Column
	functions []*shownFunction
	pcs       golden.Table
	shown     map[place]bool // instructions in gprofng's list of PCs
	blocks    []golden.Table // callers and callees; parallel to functions
	raw       map[place]map[string]pair
	owners    map[place]*function
	result    *result
}

// compareGprofng ingests an experiment into a fresh store and compares it with gprofng's reports.
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

// compare compares the store with the reports that read has read.
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
