package gprofng

import (
	"math"

	"stackmill/schema"
	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
	"stackmill/stages/decode/bounds"
)

// The layout of an overview record (gprofng-experiment 3.5): 8 bytes, then 14 times and 6 unused
// times of two words each, 12 counters and 10 unused words. A word has the size of an address.
const (
	overviewHead   = 8
	overviewTimes  = 14
	overviewUnused = 6
	overviewCounts = 12
	overviewSpare  = 10
	overviewWords  = 2*(overviewTimes+overviewUnused) + overviewCounts + overviewSpare

	overviewReal  = 3 // index, among the record's times, of the first that becomes a column
	overviewSleep = 9 // index in schema.OverviewTimes
	overviewUser  = 1 // index in schema.OverviewTimes; the number of CPUs bounds the sum of the times from user to trap
	overviewTrap  = 3
)

// overviewRecord is the process's resource usage from its start to a time.
type overviewRecord struct {
	time   int64
	times  []int64
	counts []int64
}

// maxRecords is the maximum number of records: one per second for six days.
const maxRecords = 1 << 19

// readOverview returns the differences between successive records. start, on the recording's clock,
// becomes time 0.
func (e *experiment) readOverview(data []byte, start int64, release func()) []decode.OverviewRow {
	size := overviewHead + overviewWords*e.wordBytes
	if rest := len(data) % size; rest != 0 {
		e.report(diagnostic.Error, overviewFile, int64(len(data)-rest), "truncated",
			"the file ends inside a record: %d of %d bytes", rest, size)
	} else {
		e.judgeSamples(len(data) / size)
	}
	var rows []decode.OverviewRow
	var left bounds.Outliers
	facts, _ := e.facts()
	last := overviewRecord{time: facts.start, times: make([]int64, len(schema.OverviewTimes)), counts: make([]int64, len(schema.OverviewCounts))}
	records := len(data) / size
	if records > maxRecords {
		e.report(diagnostic.Error, overviewFile, int64(maxRecords*size), "too-many-records", "only the first %d of %d records are kept", maxRecords, records)
		records = maxRecords
	}
	for i := range records {
		if i%releaseFrames == 0 {
			release()
		}
		rec := e.overviewRecord(data[i*size : (i+1)*size])
		rec.replaceOutliers(&facts, last, int64(i*size+overviewHead), int64(e.wordBytes), &left)
		if i > 0 {
			row := rec.since(last)
			row.T0NS, row.T1NS = last.time-start, rec.time-start
			label, ok := e.log.labels[int64(i)]
			if !ok {
				label = "<unknown>"
			}
			row.Label = label
			rows = append(rows, row)
		}
		last = rec
	}
	left.Report(e.reporter(overviewFile))
	return rows
}

// replaceOutliers replaces values out of bounds by the values of the previous record, last. The
// record's values begin at offset `at` of the file.
func (r *overviewRecord) replaceOutliers(f *facts, last overviewRecord, at, wordBytes int64, left *bounds.Outliers) {
	// The log's end is no bound: the last record may show a later end of the experiment.
	if end := bounds.Add(f.start, bounds.MaxDuration); r.time < f.start-bounds.ExitDelay || r.time > end {
		left.Add("the time of a record", " ns", at, r.time, f.start, end)
		r.time = last.time
	}
	const states = 16 // more than there are times in a record, so that their sum stays in bounds
	for i, v := range r.times {
		most := bounds.Mul(f.length(), bounds.MaxThreads)
		if overviewUser <= i && i <= overviewTrap {
			most = bounds.Mul(f.length(), f.cpus)
		}
		if most = min(most, math.MaxInt64/states); v < 0 || v > most {
			left.Add(schema.OverviewTimes[i], " ns", at+2*int64(overviewReal+i)*wordBytes, v, 0, most)
			r.times[i] = last.times[i]
		}
	}
	for i, v := range r.counts {
		if most := bounds.Mul(bounds.Mul(f.length(), bounds.EventsPerNS), f.cpus); v < 0 || v > most {
			left.Add(schema.OverviewCounts[i], "", at+int64(2*(overviewTimes+overviewUnused)+i)*wordBytes, v, 0, most)
			r.counts[i] = last.counts[i]
		}
	}
}

func (e *experiment) overviewRecord(b []byte) overviewRecord {
	word := func(i int) int64 {
		at := b[overviewHead+i*e.wordBytes:]
		if e.wordBytes == 8 {
			return int64(e.order.u64(at))
		}
		return int64(int32(e.order.u32(at)))
	}
	time := func(i int) int64 {
		seconds, ns := word(2*i), word(2*i+1)
		if seconds < 0 || ns < 0 {
			return -1
		}
		return bounds.Add(bounds.Mul(seconds, nsPerSecond), ns)
	}
	r := overviewRecord{time: time(0)}
	for i := range schema.OverviewTimes {
		r.times = append(r.times, time(overviewReal+i))
	}
	for i := range schema.OverviewCounts {
		r.counts = append(r.counts, word(2*(overviewTimes+overviewUnused)+i))
	}
	return r
}

// since returns the difference of two records. Negative differences become 0; real time that no
// state accounts for counts as sleep.
func (r overviewRecord) since(last overviewRecord) decode.OverviewRow {
	row := decode.OverviewRow{Times: make([]int64, len(r.times)), Counts: make([]int64, len(r.counts))}
	var inStates int64
	for i := range r.times {
		row.Times[i] = max(0, r.times[i]-last.times[i])
		if i > 0 {
			inStates += row.Times[i]
		}
	}
	for i := range r.counts {
		row.Counts[i] = max(0, r.counts[i]-last.counts[i])
	}
	if missing := row.Times[0] - inStates; missing > 0 {
		row.Times[overviewSleep-1] += missing
	}
	return row
}
