package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"time"

	"stackmill/internal/atomicfile"
	"stackmill/internal/exit"
	"stackmill/pipeline"
	"stackmill/schema"
	"stackmill/schema/storedir"
)

// ingestReport is what `ingest --report` writes; docs/operations.md describes it.
type ingestReport struct {
	ReportVersion int             `json:"report_version"`
	Program       string          `json:"program"`
	StoreVersion  string          `json:"store_version"`
	Store         string          `json:"store"`
	Arguments     reportArguments `json:"arguments"`
	Started       time.Time       `json:"started"`
	Ended         time.Time       `json:"ended"`
	Seconds       float64         `json:"seconds"`
	CPUSeconds    float64         `json:"cpu_seconds"`
	ExitStatus    int             `json:"exit_status"`
	Interrupted   bool            `json:"interrupted"`
	Error         string          `json:"error,omitempty"`
	Totals        *tally          `json:"totals"`
	Watch         *watched        `json:"watch,omitempty"`
	Problems      []*problemGroup `json:"problems"`
	Batches       []batchReport   `json:"batches"`
	Compacted     *compacted      `json:"compacted,omitempty"`
	Inputs        []inputReport   `json:"inputs"`
}

// reportVersion changes when the meaning of a member does, not when there are more.
const reportVersion = 1

// reportArguments are the arguments that change what is put in, or how fast.
type reportArguments struct {
	Paths             []string `json:"paths"`
	Plan              string   `json:"plan,omitempty"` // instead of paths
	Chunk             *int     `json:"chunk,omitempty"`
	Recursive         bool     `json:"recursive"`
	Verify            bool     `json:"verify"`
	Watch             bool     `json:"watch"`
	AutoCompact       bool     `json:"auto_compact"`
	Jobs              int      `json:"jobs"`
	Memory            int64    `json:"memory"`
	ExperimentTimeout float64  `json:"experiment_timeout"` // seconds
	Cache             string   `json:"cache"`
	SymFS             string   `json:"symfs,omitempty"`
	DebugDirs         []string `json:"debug_dir,omitempty"`
	Kallsyms          string   `json:"kallsyms,omitempty"`
	Vmlinux           string   `json:"vmlinux,omitempty"`
	PerfMaps          string   `json:"perf_map_dir,omitempty"`
	Sources           []string `json:"source_path,omitempty"`
	NoRecordedSources bool     `json:"no_recorded_sources,omitempty"`
}

// inputReport is what became of one input.
type inputReport struct {
	Path           string                 `json:"path"`
	ExperimentID   string                 `json:"experiment_id,omitempty"`
	Experiment     string                 `json:"experiment"`
	Status         string                 `json:"status"`
	InStore        bool                   `json:"in_store"`
	Batch          string                 `json:"batch,omitempty"`
	Samples        int64                  `json:"samples"`
	RecordingBytes int64                  `json:"recording_bytes"`
	Rows           int64                  `json:"rows"`
	Seconds        float64                `json:"seconds"`
	StageSeconds   map[string]float64     `json:"stage_seconds,omitempty"`
	Problems       []*problemGroup        `json:"problems,omitempty"`
	Error          string                 `json:"error,omitempty"`
	Noted          *storedir.JournalEntry `json:"noted,omitempty"`
}

func (in *ingester) newReport(o *outcome, paths []string, w *watched) *ingestReport {
	r := &ingestReport{
		ReportVersion: reportVersion, Program: in.Program, StoreVersion: schema.StoreVersion, Store: absolute(in.store),
		Arguments: in.arguments(paths), Started: o.started.UTC(), Ended: o.ended.UTC(),
		Seconds: seconds(o.ended.Sub(o.started)), CPUSeconds: seconds(o.tally.cpu),
		ExitStatus: exit.Status(o.err), Interrupted: o.interrupted,
		Totals: o.tally, Watch: w, Problems: groupProblems(o.results), Batches: o.batches, Compacted: o.compacted,
		Inputs: make([]inputReport, len(o.results)),
	}
	if o.err != nil {
		r.Error = o.err.Error()
	}
	for i := range o.results {
		r.Inputs[i] = reportInput(&o.results[i])
	}
	return r
}

func (in *ingester) arguments(paths []string) reportArguments {
	a := reportArguments{
		Recursive: in.Recursive, Verify: in.Verify, Watch: in.watch, AutoCompact: in.autoCompact, Jobs: in.Jobs, Memory: in.Memory,
		ExperimentTimeout: in.Timeout.Seconds(), Cache: cmp.Or(in.SharedCache, in.Cache), SymFS: in.SymFS, DebugDirs: in.DebugDirs,
		Kallsyms: in.Kallsyms, Vmlinux: in.Vmlinux, PerfMaps: in.PerfMaps, Sources: in.sources, NoRecordedSources: in.NoRecordedSources,
	}
	if in.plan != "" {
		a.Paths, a.Plan, a.Chunk = []string{}, absolute(in.plan), &in.chunk
		return a
	}
	for _, p := range paths {
		a.Paths = append(a.Paths, absolute(p))
	}
	return a
}

func reportInput(r *pipeline.Result) inputReport {
	in := inputReport{
		Path: r.Path, ExperimentID: r.ID, Experiment: filepath.Base(r.Path), Status: r.Status,
		InStore: r.Batch != "" || r.Status == pipeline.Skipped, Batch: r.Batch,
		Samples: r.Samples, RecordingBytes: r.Bytes, Rows: r.Rows, Seconds: seconds(r.Elapsed),
	}
	if len(r.Stages) > 0 {
		in.StageSeconds = map[string]float64{}
	}
	for _, s := range r.Stages {
		in.StageSeconds[s.Stage] = seconds(s.Elapsed)
	}
	for _, g := range groupProblems([]pipeline.Result{*r}) {
		g.Recordings, g.Path = 0, "" // it is this one
		in.Problems = append(in.Problems, g)
	}
	if r.Err != nil {
		in.Error = r.Err.Error()
	}
	if r.Noted.ExperimentID != "" {
		in.Noted = &r.Noted
	}
	return in
}

// write writes the report to a file: the inputs a line each, so that many can be searched
// by line.
func (r *ingestReport) write(path string) error {
	return atomicfile.Write(path, func(out io.Writer) error {
		w := bufio.NewWriter(out)
		head := *r
		head.Inputs = nil
		text, err := json.MarshalIndent(head, "", "  ")
		if err != nil {
			return err
		}
		const end = "null\n}" // of no inputs
		_, err = w.Write(text[:len(text)-len(end)])
		errs := []error{err, w.WriteByte('[')}
		for i := range r.Inputs {
			line, err := json.Marshal(&r.Inputs[i])
			between := ",\n    "
			if i == 0 {
				between = between[1:]
			}
			_, werr := w.WriteString(between + string(line))
			errs = append(errs, err, werr)
		}
		_, err = w.WriteString("\n  ]\n}\n")
		return errors.Join(append(errs, err, w.Flush())...)
	})
}

// absolute is a path that does not depend on the working directory.
func absolute(path string) string {
	if storedir.IsCache(path) {
		return storedir.DisplayName(path)
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
