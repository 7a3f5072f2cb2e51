package pipeline

import (
	"context"
	"errors"
	"slices"
	"time"

	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
	"stackmill/stages/decode/jitdump"
	"stackmill/stages/decode/replay"
	"stackmill/stages/loadobject/cache"
)

// recording is a recording as the stages before symbolization leave it.
type recording struct {
	*decode.Recording // of open
	opening           func() (*decode.Recording, error)
	files             *fileLocator // of locate
	tables            *cache.Recording
	replay            replayData // of keep
	samples           int64      // that have passed so far
	perProcess        []passedSamples
}

// passedSamples are the samples of a process that have passed the stages.
type passedSamples struct{ samples, durationNS int64 }

// extendDurations makes processes last at least until their last samples. It waits until all samples
// have passed: the stages of later processes, which run concurrently, use the durations, too.
func (r *recording) extendDurations() {
	for i, passed := range r.perProcess {
		r.Processes[i].DurationNS = max(r.Processes[i].DurationNS, passed.durationNS)
	}
}

// Statuses of experiments and processes.
const (
	Complete = "complete"
	Unclosed = "unclosed"
	Partial  = "partial"
	Failed   = "failed"
)

// status returns the status of the experiment, by its worst problem.
func (r *recording) status() string {
	switch {
	case r.Problems.Errors() > 0 && r.samples == 0:
		return Failed
	case r.Problems.Errors() > 0:
		return Partial
	case len(r.Processes) > 0 && !r.Processes[0].Closed:
		return Unclosed
	}
	return Complete
}

func (r *recording) processStatus(p *decode.Process) string {
	for _, pr := range r.Problems.Problems {
		if pr.Process == p.Number && pr.Severity == diagnostic.Error {
			return Partial
		}
	}
	if !p.Closed {
		return Unclosed
	}
	return Complete
}

// locate finds the files of the recording.
func (r *recording) locate(in *ingest) {
	r.files = locate(&in.Options, r.Recording)
	r.tables = in.loader.Of(in.SymFS, r.files.recorded)
}

// attach adds the code that run-time compilers describe to the mappings.
func (r *recording) attach(ctx context.Context) error {
	if r.HostErr.Err() == nil {
		for _, g := range jitdump.Find(ctx, r.Recording, r.files) {
			g.Attach()
		}
	}
	return errors.Join(r.HostErr.Err(), context.Cause(ctx))
}

// began returns the latest time at which the recording may have started, since gprofng's log has
// whole seconds; zero if the recording does not say.
func (r *recording) began() time.Time {
	if r.Started.IsZero() || r.Began.Before(r.Started) {
		return r.Started
	}
	return r.Began
}

// replayData is what `recordings` keeps of a recording, encoded before its events are read.
type replayData struct {
	problems []diagnostic.Problem
	parts    []string // by process
}

// keep encodes the data from which the recording can be replayed.
func (r *recording) keep() error {
	c := replayData{problems: slices.Clone(r.Problems.Problems)}
	for _, p := range r.Processes {
		c.problems = slices.DeleteFunc(c.problems, func(of diagnostic.Problem) bool { // replaying looks for them again
			return of.Process == p.Number && slices.ContainsFunc(p.JITDumps, func(d decode.JITDump) bool { return !d.Attached && d.Path == of.File })
		})
		content, err := replay.EncodeProcess(p)
		if err != nil {
			return err
		}
		c.parts = append(c.parts, content)
	}
	r.replay = c
	return nil
}
