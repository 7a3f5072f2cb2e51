package runner

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
	"stackmill/internal/terminal"
	"stackmill/pipeline"
	"stackmill/pipeline/plan"
	"stackmill/schema"
	"stackmill/schema/storedir"
)

// Report is the JSON object that `ingest --report` writes; docs/operations.md describes it.
type Report struct {
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
	Totals        *totals         `json:"totals"`
	Watch         *watchTotals    `json:"watch,omitempty"`
	Problems      []*problemGroup `json:"problems"`
	Batches       []batchReport   `json:"batches"`
	Compacted     *compaction     `json:"compacted,omitempty"`
	Inputs        []inputReport   `json:"inputs"`
}

// reportVersion changes when the meaning of a member changes, not when members are added.
const reportVersion = 1

// reportArguments are the arguments of the command that affect what is ingested, or how fast.
type reportArguments struct {
	Paths             []string `json:"paths"`
	Plan              string   `json:"plan,omitempty"` // the plan that was ingested, instead of paths
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

// inputReport is the result of one input.
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
	Remark         string                 `json:"remark,omitempty"`
	Noted          *storedir.JournalEntry `json:"noted,omitempty"`
}

func (run *Runner) newReport(o *outcome, paths []string, w *watchTotals) *Report {
	r := &Report{
		ReportVersion: reportVersion, Program: run.Program, StoreVersion: schema.StoreVersion, Store: plan.Absolute(run.Store),
		Arguments: run.arguments(paths), Started: o.started.UTC(), Ended: o.ended.UTC(),
		Seconds: seconds(o.ended.Sub(o.started)), CPUSeconds: seconds(o.totals.cpu),
		ExitStatus: exit.Status(o.err), Interrupted: o.interrupted,
		Totals: o.totals, Watch: w, Problems: groupProblems(o.results), Batches: o.batches, Compacted: o.compaction,
		Inputs: make([]inputReport, len(o.results)),
	}
	if o.err != nil {
		r.Error = terminal.Wording(o.err)
	}
	for i := range o.results {
		r.Inputs[i] = reportInput(&o.results[i])
	}
	return r
}

func (run *Runner) arguments(paths []string) reportArguments {
	a := reportArguments{
		Recursive: run.Recursive, Verify: run.Verify, Watch: run.Watch, AutoCompact: run.AutoCompact, Jobs: run.Jobs, Memory: run.Memory,
		ExperimentTimeout: run.Timeout.Seconds(), Cache: cmp.Or(run.SharedCache, run.Cache), SymFS: run.SymFS, DebugDirs: run.DebugDirs,
		Kallsyms: run.Kallsyms, Vmlinux: run.Vmlinux, PerfMaps: run.PerfMaps, Sources: run.SourcePaths, NoRecordedSources: run.NoRecordedSources,
	}
	if run.Plan != "" {
		a.Paths, a.Plan, a.Chunk = []string{}, plan.Absolute(run.Plan), &run.Chunk
		return a
	}
	for _, p := range paths {
		a.Paths = append(a.Paths, plan.Absolute(p))
	}
	return a
}

func reportInput(r *pipeline.Result) inputReport {
	input := inputReport{
		Path: r.Path, ExperimentID: r.ID, Experiment: filepath.Base(r.Path), Status: r.Status,
		InStore: r.Batch != "" || r.Status == pipeline.Skipped, Batch: r.Batch,
		Samples: r.Samples, RecordingBytes: r.Bytes, Rows: r.Rows, Seconds: seconds(r.Elapsed), Remark: r.Remark,
	}
	if len(r.Stages) > 0 {
		input.StageSeconds = map[string]float64{}
	}
	for _, s := range r.Stages {
		input.StageSeconds[s.Stage] = seconds(s.Elapsed)
	}
	for _, g := range groupProblems([]pipeline.Result{*r}) {
		g.Recordings, g.Path = 0, "" // it is this one
		input.Problems = append(input.Problems, g)
	}
	if r.Err != nil {
		input.Error = terminal.Wording(r.Err)
	}
	if r.Noted.ExperimentID != "" {
		input.Noted = &r.Noted
	}
	return input
}

// write writes the report to a file, with each input on a line of its own, so that grep finds it.
func (r *Report) write(path string) error {
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
