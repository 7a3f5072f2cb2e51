package pipeline

import (
	"errors"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"stackmill/schema"
	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
	"stackmill/stages/decode/replay"
)

// description is what describe takes.
type description struct {
	id, name string
	rec      *decode.Recording
	passed   *passedSamples
	replay   *replayData
	forms    []decode.Form // the forms of the recorded stacks
	emit     func(*schema.Table, arrow.RecordBatch) error
}

// describe emits the tables about the recording as a whole, once all problems are known.
func describe(d *description) error {
	return errors.Join(d.experimentRow(), d.processRows(), d.threadNameRows(), d.threadStateRows(), d.eventFormatRows(), d.gapRows(), d.countRows(), d.problemRows(), d.recordingRows(), d.overviewRows())
}

func (d *description) experimentRow() error {
	rec := d.rec
	founder := &decode.Process{}
	if len(rec.Processes) > 0 {
		founder = rec.Processes[0]
	}
	var started any
	if !rec.Started.IsZero() {
		started = arrow.Timestamp(rec.Started.Truncate(time.Microsecond).UnixMicro())
	}
	rows := schema.NewRows(schema.Experiments, d.id, d.emit)
	rows.Append(d.name, rec.Format, rec.Version, rec.Collector, rec.Host, rec.OS, rec.Arch,
		int32(rec.CPUs), int32(rec.ClockMHz), rec.PageSize, int32(rec.WordBits),
		founder.Target, founder.Command, founder.Directory, started, rec.Length().Nanoseconds(),
		int32(len(rec.Processes)), d.passed.samples, statusOf(rec, d.passed.samples), orNull(rec.CacheLine), rec.Comment)
	return rows.Close()
}

// orNull returns n, or nil for 0, which means not recorded.
func orNull(n int64) any {
	if n == 0 {
		return nil
	}
	return n
}

func (d *description) processRows() error {
	rows := schema.NewRows(schema.Processes, d.id, d.emit)
	for i, p := range d.rec.Processes {
		rows.Append(int32(p.Number), p.Lineage, p.PID, p.PPID, p.Target, p.Command,
			p.StartNS, p.DurationNS, d.passed.processes[i].samples, processStatus(d.rec, p))
	}
	return rows.Close()
}

func (d *description) threadNameRows() error {
	rows := schema.NewRows(schema.ThreadNames, d.id, d.emit)
	for _, p := range d.rec.Processes {
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

func (d *description) eventFormatRows() error {
	rows := schema.NewRows(schema.EventFormats, d.id, d.emit)
	for _, f := range d.rec.EventFields {
		rows.Append(f.Event, f.System, int32(f.Position), f.Name, f.Type, int32(f.Offset), int32(f.Size), f.Signed, int32(f.Elements), f.Dynamic, f.Text)
	}
	return rows.Close()
}

func (d *description) gapRows() error {
	rows := schema.NewRows(schema.RecordingGaps, d.id, d.emit).Labels("reason", schema.GapReasons...)
	for i, g := range d.rec.Gaps {
		rows.Int32(int32(i)).Int64(g.FromNS).Int64(g.UntilNS)
		if g.CPU >= 0 {
			rows.Int32(g.CPU)
		} else {
			rows.Null()
		}
		rows.Label(g.Reason)
	}
	return rows.Close()
}

func (d *description) countRows() error {
	if d.rec.Counts == nil {
		return nil
	}
	rows := schema.NewRows(schema.Counts, d.id, d.emit)
	orMissing := func(known bool, v any) any {
		if known {
			return v
		}
		return nil
	}
	err := d.rec.Counts(func(c *decode.Count) error {
		rows.Append(int32(c.Interval), c.FromNS, c.UntilNS, c.Event, orMissing(c.CPU >= 0, c.CPU), orMissing(c.ThreadID >= 0, c.ThreadID),
			orMissing(c.ThreadName != "", c.ThreadName), orMissing(c.Counted, c.Value), orMissing(c.EnabledNS >= 0, c.EnabledNS), orMissing(c.RunningNS >= 0, c.RunningNS), c.Unit, c.Scale)
		return nil
	})
	return errors.Join(err, rows.Close())
}

func (d *description) threadStateRows() error {
	if d.rec.ThreadStates == nil {
		return nil
	}
	rows := schema.NewRows(schema.ThreadStates, d.id, d.emit).Labels("state", schema.StateNames...).Labels("border", schema.BorderNames...)
	number := func(n int64, known bool) {
		if known {
			rows.Int64(n)
		} else {
			rows.Null()
		}
	}
	err := d.rec.ThreadStates(func(s *decode.ThreadState) error {
		if s.Process > 0 {
			rows.Int32(int32(s.Process))
		} else {
			rows.Null()
		}
		rows.Int64(s.ThreadID).Int64(s.FromNS).Int64(s.UntilNS).Label(s.State)
		if s.CPU >= 0 {
			rows.Int32(s.CPU)
		} else {
			rows.Null()
		}
		number(s.WaitSample, s.WaitSample >= 0)
		number(s.WakerThread, s.WakerThread >= 0)
		number(s.WakerSample, s.WakerSample >= 0)
		rows.Label(s.Border)
		return nil
	})
	return errors.Join(err, rows.Close())
}

func (d *description) problemRows() error {
	rows := schema.NewRows(schema.Problems, d.id, d.emit)
	for i, p := range d.rec.Problems.Problems {
		var offset any
		if p.Offset != diagnostic.NoOffset {
			offset = p.Offset
		}
		rows.Append(int32(i+1), p.Severity.String(), int32(p.Process), p.File, offset, p.Reason, p.Message, p.Count)
	}
	return rows.Close()
}

func (d *description) overviewRows() error {
	rows := schema.NewRows(schema.Overview, d.id, d.emit)
	for _, p := range d.rec.Processes {
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

func (d *description) recordingRows() error {
	whole, err := replay.EncodeRecording(d.rec, d.forms, d.replay.problems)
	if err != nil {
		return err
	}
	rows := schema.NewRows(schema.Recordings, d.id, d.emit)
	rows.Append(int32(0), whole)
	for i, content := range d.replay.parts {
		rows.Append(int32(d.rec.Processes[i].Number), content)
	}
	return rows.Close()
}
