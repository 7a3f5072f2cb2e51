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
)

// passedSamples counts the samples that have passed the stages.
type passedSamples struct {
	samples   int64
	processes []processSamples
}

// processSamples is the number of samples of a process, and the time from its start to the last
// one.
type processSamples struct{ samples, durationNS int64 }

// extendDurations extends processes to the times of their last samples. It must wait until all
// samples have passed the stages, because the stages of later processes use the durations
// concurrently.
func (s *passedSamples) extendDurations(processes []*decode.Process) {
	for i, passed := range s.processes {
		processes[i].DurationNS = max(processes[i].DurationNS, passed.durationNS)
	}
}

// Statuses of experiments and processes.
const (
	Complete = "complete"
	Unclosed = "unclosed"
	Partial  = "partial"
	Failed   = "failed"
)

// statusOf returns the status of an experiment, from its worst problem and from what was read of it.
func statusOf(rec *decode.Recording, samples int64) string {
	switch {
	case rec.Problems.Errors() > 0 && samples == 0 && rec.Counts == nil:
		return Failed
	case rec.Problems.Errors() > 0:
		return Partial
	case isUnclosed(rec):
		return Unclosed
	}
	return Complete
}

// isUnclosed reports whether the collector was not finished with the recording: it was killed, or
// still runs.
func isUnclosed(rec *decode.Recording) bool {
	return len(rec.Processes) > 0 && !rec.Processes[0].Closed
}

func processStatus(rec *decode.Recording, p *decode.Process) string {
	for _, pr := range rec.Problems.Problems {
		if pr.Process == p.Number && pr.Severity == diagnostic.Error {
			return Partial
		}
	}
	if !p.Closed {
		return Unclosed
	}
	return Complete
}

// attach adds code that run-time compilers generated, from their jitdump files, to the mappings.
func attach(ctx context.Context, rec *decode.Recording, files decode.Locator) error {
	if rec.HostErr.Err() == nil {
		for _, g := range jitdump.Find(ctx, rec, files) {
			g.Attach()
		}
	}
	return errors.Join(rec.HostErr.Err(), context.Cause(ctx))
}

// startOf returns the latest time at which a recording may have started; zero if unknown. gprofng's
// log has whole seconds, so a recording may have started up to a second after Started.
func startOf(rec *decode.Recording) time.Time {
	if rec.Started.IsZero() || rec.Began.Before(rec.Started) {
		return rec.Started
	}
	return rec.Began
}

// replayData is what `recordings` keeps of a recording, encoded before its events are read.
type replayData struct {
	problems []diagnostic.Problem
	parts    []string // the encoded data of each process
}

// keep encodes the data from which a recording can be replayed.
func keep(rec *decode.Recording) (replayData, error) {
	c := replayData{problems: slices.Clone(rec.Problems.Problems)}
	for _, p := range rec.Processes {
		c.problems = slices.DeleteFunc(c.problems, func(of diagnostic.Problem) bool { // replaying finds them again
			return of.Process == p.Number && slices.ContainsFunc(p.JITDumps, func(d decode.JITDump) bool { return !d.Attached && d.Path == of.File })
		})
		content, err := replay.EncodeProcess(p)
		if err != nil {
			return c, err
		}
		c.parts = append(c.parts, content)
	}
	return c, nil
}
