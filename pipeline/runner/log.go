package runner

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"math"
	"slices"
	"time"

	"stackmill/internal/terminal"
	"stackmill/pipeline"
	"stackmill/schema/diagnostic"
)

// logResult logs the result of one input. It leaves out inputs that were skipped or not begun,
// which are only counted at the end.
func logResult(log *slog.Logger, r pipeline.Result) {
	if r.Status == pipeline.Skipped || r.Status == pipeline.Aborted && r.Elapsed == 0 {
		return
	}
	level := slog.LevelInfo
	if r.Lost() {
		level = slog.LevelError
	}
	attrs := []slog.Attr{slog.String("path", r.Path), slog.String("status", r.Status), slog.Int64("samples", r.Samples),
		slog.Int("problems", len(r.Problems)), slog.Float64("seconds", seconds(r.Elapsed)), slog.String("experiment_id", r.ID)}
	switch {
	case r.Err != nil:
		attrs = append(attrs, slog.String("error", terminal.Wording(r.Err)))
	case r.Lost():
		attrs = append(attrs, slog.String("error", firstError(r)))
	}
	if r.Remark != "" {
		attrs = append(attrs, slog.String("remark", r.Remark))
		level = max(level, slog.LevelWarn)
	}
	var internal *pipeline.InternalError
	if errors.As(r.Err, &internal) {
		attrs = append(attrs, slog.String("stack", string(internal.Stack)))
	}
	log.LogAttrs(context.Background(), level, "ingest", attrs...)
}

// seconds returns a duration in seconds, to the microsecond.
func seconds(d time.Duration) float64 { return math.Round(d.Seconds()*1e6) / 1e6 }

// problemGroup counts the problems with one severity and reason.
type problemGroup struct {
	Severity   string `json:"severity"`
	Reason     string `json:"reason"`
	Recordings int    `json:"recordings,omitempty"` // number of recordings with such a problem
	Problems   int    `json:"problems"`             // number of rows of the table problems
	Count      int64  `json:"count"`                // sum of problems.count
	Path       string `json:"path,omitempty"`       // the first recording with such a problem
	File       string `json:"file"`                 // file of the first such problem
	Message    string `json:"message"`              // message of the first such problem

	severity diagnostic.Severity
}

// groupProblems groups the problems of recordings by severity and reason, the worst
// first.
func groupProblems(results []pipeline.Result) []*problemGroup {
	type key struct {
		severity diagnostic.Severity
		reason   string
	}
	groups := map[key]*problemGroup{}
	last := map[*problemGroup]int{}
	list := []*problemGroup{}
	for i := range results {
		for _, p := range results[i].Problems {
			k := key{p.Severity, p.Reason}
			g := groups[k]
			if g == nil {
				g = &problemGroup{Severity: p.Severity.String(), Reason: p.Reason, Path: results[i].Path, File: p.File, Message: p.Message, severity: p.Severity}
				groups[k], last[g] = g, -1
				list = append(list, g)
			}
			if last[g] != i {
				last[g] = i
				g.Recordings++
			}
			g.Problems++
			g.Count += p.Count
		}
	}
	slices.SortStableFunc(list, func(a, b *problemGroup) int {
		return cmp.Or(cmp.Compare(b.severity, a.severity), cmp.Compare(b.Recordings, a.Recordings), cmp.Compare(a.Reason, b.Reason))
	})
	return list
}

// logProblems logs a line for each reason of problems.
func logProblems(log *slog.Logger, results []pipeline.Result) {
	for _, g := range groupProblems(results) {
		level := slog.LevelWarn
		switch g.severity {
		case diagnostic.Info:
			continue
		case diagnostic.Error:
			level = slog.LevelError
		}
		log.LogAttrs(context.Background(), level, "problem", slog.String("reason", g.Reason), slog.Int("recordings", g.Recordings),
			slog.Int64("count", g.Count), slog.String("path", g.Path), slog.String("file", g.File), slog.String("message", g.Message))
	}
}

// logEnd logs the problems that recordings have in common, and the totals.
func (s *summary) logEnd(elapsed time.Duration) {
	if s.log == nil {
		return
	}
	logProblems(s.log, s.results)
	t := totalsOf(s.results)
	attrs := []slog.Attr{slog.Int("recordings", t.Inputs)}
	for _, status := range slices.Sorted(maps.Keys(t.Experiments)) {
		if n := t.Experiments[status]; n > 0 {
			attrs = append(attrs, slog.Int(status, n))
		}
	}
	attrs = append(attrs, slog.Int64("samples", t.Samples), slog.Float64("seconds", seconds(elapsed)))
	s.log.LogAttrs(context.Background(), slog.LevelInfo, "done", attrs...)
}
