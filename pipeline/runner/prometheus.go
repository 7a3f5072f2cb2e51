package runner

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"stackmill/internal/atomicfile"
	"stackmill/internal/exit"
	"stackmill/pipeline/plan"
	"stackmill/schema"
	"stackmill/schema/storedir"
)

// writeMetrics writes metrics of the last ingest for Prometheus. Counters continue from their
// values in the file, and increase by added; nil: by nothing.
func (run *Runner) writeMetrics(last *outcome, added *totals, looked time.Time) error {
	m := newMetricsText(run.Metrics, plan.Absolute(run.Store))
	success := m.before[m.series("stackmill_ingest_last_success_timestamp_seconds")]
	if last.err == nil {
		success = unixSeconds(looked)
	}
	m.gauge("stackmill_ingest_info", "Always 1; the labels say which program ran the last ingest.", 1, "version", run.Program, "store_version", schema.StoreVersion)
	m.gauge("stackmill_ingest_last_run_timestamp_seconds", "When the last ingest ended, or a watch last looked for recordings.", unixSeconds(looked))
	m.gauge("stackmill_ingest_last_success_timestamp_seconds", "When an ingest last ended, or a watch last looked, with all recordings in the store (exit status 0); 0 if never.", success)
	m.gauge("stackmill_ingest_last_run_duration_seconds", "How long the last ingest took.", last.ended.Sub(last.started).Seconds())
	m.gauge("stackmill_ingest_last_run_exit_status", "The exit status of the last ingest.", float64(exit.Status(last.err)))
	m.gauge("stackmill_ingest_last_run_max_resident_bytes", "The largest resident set size of the last ingest's process.", float64(last.resident))
	m.gauges("stackmill_ingest_last_run_experiments", "Recordings that the last ingest found, by the status of the result.", "status", floats(last.totals.Experiments))
	runs := 1.0
	if added == nil {
		added, runs = newTotals(), 0
	}
	m.counter("stackmill_ingest_runs_total", "Ingests that ended, and rounds of a watch that had something to do.", runs)
	m.counters("stackmill_ingest_experiments_total", "Recordings that ingests found, by the status of the result.", "status", floats(added.Experiments))
	m.counters("stackmill_ingest_problems_total", "Problems of the recordings that were read.", "severity", floats(added.Problems))
	m.counters("stackmill_ingest_stage_seconds_total", "Time that each stage of the pipeline took, summed over experiments, which run concurrently.", "stage", added.StageSeconds)
	m.counter("stackmill_ingest_samples_total", "Samples of the recordings that were read.", float64(added.Samples))
	m.counter("stackmill_ingest_recording_bytes_total", "Bytes of the ingested recordings.", float64(added.RecordingBytes))
	m.counter("stackmill_ingest_written_rows_total", "Rows that were committed.", float64(added.FileRows))
	m.counter("stackmill_ingest_written_bytes_total", "Bytes of the files that were committed.", float64(added.FileBytes))
	m.counter("stackmill_ingest_cpu_seconds_total", "CPU time of the ingests.", added.cpu.Seconds())
	m.addStore(last.store)
	return atomicfile.Write(run.Metrics, func(w io.Writer) error {
		_, err := w.Write(m.text.Bytes())
		return err
	})
}

// addStore writes the sums over the store, if they are known.
func (m *metricsText) addStore(s *storeSize) {
	if s == nil {
		return
	}
	m.gauges("stackmill_store_experiments", "Experiments in the store.", "status", floats(s.experiments))
	m.gauge("stackmill_store_batches", "Batches of the store that have an experiment.", float64(s.batches))
	m.gauge("stackmill_store_files", "Files of these batches.", float64(s.files))
	m.gauge("stackmill_store_rows", "Rows in these files.", float64(s.rows))
	m.gauge("stackmill_store_bytes", "Bytes of these files.", float64(s.bytes))
}

// storeSize holds the sums over a store.
type storeSize struct {
	experiments    map[string]int // by status
	batches, files int
	rows, bytes    int64
}

// measureStore returns the sums over the store: 0 if there is no store yet. It returns nil if no
// metrics are wanted, and, after a warning, if the commits cannot be read.
func (run *Runner) measureStore() *storeSize {
	if run.Metrics == "" {
		return nil
	}
	s := &storeSize{experiments: map[string]int{}}
	for _, status := range append([]string{storedir.Summary}, committedStatuses...) {
		s.experiments[status] = 0
	}
	c, err := storedir.ReadContents(run.Store)
	if errors.Is(err, storedir.ErrNoStore) {
		return s
	}
	if err != nil {
		run.Warnf("ingest: --metrics: written without the store's totals, since its commits cannot be read: %v", err)
		return nil
	}
	for i := range c.Batches {
		b := &c.Batches[i]
		for e := range b.Visible {
			s.experiments[e.Status]++
		}
		s.batches++
		s.files += len(b.Files)
		for _, f := range b.Files {
			s.rows += f.Rows
			s.bytes += f.Bytes
		}
	}
	return s
}

// metricsText is a text in Prometheus' exposition format. Every series has the store's path as a
// label, so that one collector can read the files of several stores.
type metricsText struct {
	path   string
	before map[string]float64 // the values in the file, by series
	text   bytes.Buffer
}

func newMetricsText(file, store string) *metricsText {
	return &metricsText{path: store, before: readSeries(file)}
}

// readSeries reads the values in a file of metrics. It skips lines that it does not understand.
func readSeries(file string) map[string]float64 {
	series := map[string]float64{}
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() { // a pipe can only be written
		return series
	}
	f, err := os.Open(file)
	if err != nil {
		return series
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		at := strings.LastIndexByte(line, ' ')
		if at < 0 || line[0] == '#' {
			continue
		}
		if v, err := strconv.ParseFloat(line[at+1:], 64); err == nil && v >= 0 {
			series[line[:at]] = v
		}
	}
	return series
}

// labelEscapes escapes the value of a label.
var labelEscapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

// series returns the name of a series with its labels; labels are alternating names and values.
func (m *metricsText) series(name string, labels ...string) string {
	s := name + `{store="` + labelEscapes.Replace(strings.ToValidUTF8(m.path, "\uFFFD")) + `"`
	for i := 0; i+1 < len(labels); i += 2 {
		s += "," + labels[i] + `="` + labelEscapes.Replace(labels[i+1]) + `"`
	}
	return s + "}"
}

func (m *metricsText) family(name, kind, help string) {
	m.text.WriteString("# HELP " + name + " " + help + "\n# TYPE " + name + " " + kind + "\n")
}

func (m *metricsText) sample(series string, v float64) {
	m.text.WriteString(series + " " + strconv.FormatFloat(math.Round(v*1e6)/1e6, 'f', -1, 64) + "\n")
}

func (m *metricsText) gauge(name, help string, v float64, labels ...string) {
	m.family(name, "gauge", help)
	m.sample(m.series(name, labels...), v)
}

func (m *metricsText) gauges(name, help, label string, values map[string]float64) {
	m.family(name, "gauge", help)
	for _, k := range slices.Sorted(maps.Keys(values)) {
		m.sample(m.series(name, label, k), values[k])
	}
}

func (m *metricsText) counter(name, help string, more float64) {
	m.family(name, "counter", help)
	s := m.series(name)
	m.sample(s, m.before[s]+more)
}

// counters writes a family of counters, one for each value of a label, in the file before or in
// more.
func (m *metricsText) counters(name, help, label string, more map[string]float64) {
	m.family(name, "counter", help)
	all := map[string]float64{}
	start := strings.TrimSuffix(m.series(name), "}") + ","
	for s, v := range m.before {
		if strings.HasPrefix(s, start) {
			all[s] = v
		}
	}
	for k, v := range more {
		all[m.series(name, label, k)] += v
	}
	for _, s := range slices.Sorted(maps.Keys(all)) {
		m.sample(s, all[s])
	}
}

func floats(counts map[string]int) map[string]float64 {
	values := map[string]float64{}
	for k, n := range counts {
		values[k] = float64(n)
	}
	return values
}

func unixSeconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1e3 }
