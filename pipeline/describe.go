package pipeline

import (
	"errors"
	"path/filepath"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"stackmill/schema"
	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
)

// status returns the status of the experiment, by its worst problem.
func (e *experiment) status() string {
	switch {
	case e.rec.Problems.Errors() > 0 && e.samples == 0:
		return Failed
	case e.rec.Problems.Errors() > 0:
		return Partial
	case len(e.rec.Processes) > 0 && !e.rec.Processes[0].Closed:
		return Unclosed
	}
	return Complete
}

func (e *experiment) processStatus(p *decode.Process) string {
	for _, pr := range e.rec.Problems.Problems {
		if pr.Process == p.Number && pr.Severity == diagnostic.Error {
			return Partial
		}
	}
	if !p.Closed {
		return Unclosed
	}
	return Complete
}

// describe emits the tables about the recording as a whole, once all problems are known.
func (e *experiment) describe() error {
	return errors.Join(e.experimentRow(filepath.Base(e.src.path)), e.processRows(), e.threadNameRows(), e.problemRows(), e.recordingRows(), e.overviewRows())
}

func (e *experiment) experimentRow(name string) error {
	rec := e.rec
	founder := &decode.Process{}
	if len(rec.Processes) > 0 {
		founder = rec.Processes[0]
	}
	var started any
	if !rec.Started.IsZero() {
		started = arrow.Timestamp(rec.Started.Truncate(time.Microsecond).UnixMicro())
	}
	rows := schema.NewRows(schema.Experiments, e.result.ID, e.out.write)
	rows.Append(name, rec.Format, rec.Version, rec.Collector, rec.Host, rec.OS, rec.Arch,
		int32(rec.CPUs), int32(rec.ClockMHz), rec.PageSize, int32(rec.WordBits),
		founder.Target, founder.Command, founder.Directory, started, rec.Length().Nanoseconds(),
		int32(len(rec.Processes)), e.samples, e.status(), orNull(rec.CacheLine), rec.Comment)
	return rows.Close()
}

// orNull returns n, or nil for 0, which means not recorded.
func orNull(n int64) any {
	if n == 0 {
		return nil
	}
	return n
}

func (e *experiment) processRows() error {
	rows := schema.NewRows(schema.Processes, e.result.ID, e.out.write)
	for i, p := range e.rec.Processes {
		rows.Append(int32(p.Number), p.Lineage, p.PID, p.PPID, p.Target, p.Command,
			p.StartNS, p.DurationNS, e.perProcess[i], e.processStatus(p))
	}
	return rows.Close()
}

func (e *experiment) threadNameRows() error {
	rows := schema.NewRows(schema.ThreadNames, e.result.ID, e.out.write)
	for _, p := range e.rec.Processes {
		for _, n := range p.ThreadNames {
			var until any
			if n.UntilNS != decode.Never {
				until = n.UntilNS
			}
			rows.Append(int32(p.Number), n.ThreadID, n.Number, n.Name, n.FromNS, until)
		}
	}
	return rows.Close()
}

func (e *experiment) problemRows() error {
	rows := schema.NewRows(schema.Problems, e.result.ID, e.out.write)
	for i, p := range e.rec.Problems.Problems {
		var offset any
		if p.Offset != diagnostic.NoOffset {
			offset = p.Offset
		}
		rows.Append(int32(i+1), p.Severity.String(), int32(p.Process), p.File, offset, p.Reason, p.Message, p.Count)
	}
	return rows.Close()
}

func (e *experiment) overviewRows() error {
	rows := schema.NewRows(schema.Overview, e.result.ID, e.out.write)
	for _, p := range e.rec.Processes {
		for i, o := range p.Overview {
			row := []any{int32(p.Number), int32(i + 1), o.Label, o.T0NS, o.T1NS}
			for _, v := range o.Times {
				row = append(row, v)
			}
			for _, v := range o.Counts {
				row = append(row, v)
			}
			rows.Append(row...)
		}
	}
	return rows.Close()
}
