package schema

// Started is the SQL of the column `started` of the view experiments, for a row t of the table and a
// row n of the catalog's table experiment_names. The time of the file is the time when recording
// ended. A label takes precedence, because only a user can know that the recorded time, or the file's
// time, is wrong.
const Started = "COALESCE(n.labeled_start, t.started, n.file_time - to_microseconds(t.duration_ns // 1000))"

// The values of experiments.started_from.
const (
	StartedByLabel    = "label"
	StartedAsRecorded = "recorded"
	StartedByFile     = "file"
)

const startedFrom = "CASE WHEN n.labeled_start IS NOT NULL THEN '" + StartedByLabel + "' WHEN t.started IS NOT NULL THEN '" + StartedAsRecorded +
	"' WHEN n.file_time IS NOT NULL THEN '" + StartedByFile + "' END"

// Experiments and what they consist of.
var (
	Experiments = &Table{Name: "experiments", Summary: true, Row: "one experiment: a founder process and its descendants", Key: key(), Columns: []Column{
		experimentID,
		{"experiment", String, Dict, "", false, "The base name of the recording."},
		{"format", String, Dict, "", false, "The input format: `gprofng`, `perf` or `pprof`."},
		{"format_version", String, Dict, "", false, "The version that the recording states."},
		{"collector", String, Dict, "", false, "The version of the tool that recorded."},
		{"host", String, Dict, "", false, "The machine's name."},
		{"os", String, Dict, "", false, "The machine's operating system."},
		{"arch", String, Dict, "", false, "The machine's architecture as recorded."},
		{"cpus", Int32, Dict, "count", false, "The number of CPUs."},
		{"clock_mhz", Int32, Dict, "MHz", false, "The CPUs' highest clock rate, 0 if not recorded."},
		{"page_size", Int64, Dict, "bytes", false, "The size of a memory page."},
		{"word_bits", Int32, Dict, "", false, "32 or 64: the width of an address."},
		{"target", String, Dict, "", false, "The program's name."},
		{"command", String, Dict, "", false, "The founder's command line."},
		{"directory", String, Dict, "", false, "The founder's working directory."},
		{"started", Time, Plain, "", true, "When the founder started (UTC): files have it if the recording tells; the view `experiments` has it for nearly every experiment, and says in `started_from` how it knows."},
		{"duration_ns", Int64, Delta, "ns", false, "The time from the founder's start to the last event of any process."},
		{"processes", Int32, Dict, "count", false, "The number of processes with data."},
		{"samples", Int64, Delta, "count", false, "The number of samples of all kinds."},
		{"status", String, Dict, "", false, "`complete`, `unclosed` (the collector did not finish it), `partial` (data was lost) or `failed` (no samples could be read); views say `summary` where only the sums by function are kept (`forget --keep-rollups`)."},
		{"cache_line_size", Int64, Dict, "bytes", true, "The line size of the machine's data caches (of the one nearest to the processor if they differ); missing if not recorded, as in experiments of gprofng."},
		{"comment", String, Dict, "", false, "The profile's comments, one per line, followed by the URL of its documentation."},
	}, Committed: []DerivedColumn{
		{"path", String, "n.path", "The path from which the recording was ingested."},
		{"ingested", Time, "n.ingested", "When the recording was ingested (UTC)."},
		{"started_from", String, startedFrom, "How `started` is known: `label` (a user has given the label `started`), `recorded` (the recording tells), or `file` (the time of the recording's file, when recording ended, minus `duration_ns`); missing if it is unknown."},
		{"file_time", Time, "n.file_time", "When the recording's file was last modified, as found when the recording was first ingested (UTC), which `perf report --header-only` prints as `captured on`: about when recording ended, unless the file was copied without its time; missing if it is unknown, as for experiments that older versions of stackmill ingested."},
	}}
	Processes = &Table{Name: "processes", Summary: true, Row: "one process of an experiment", Key: key("process"), Columns: []Column{
		experimentID, process,
		{"lineage", String, Dict, "", false, "How the process descends from the founder: for gprofng e.g. `_f2_x1` (the second fork, then its first exec), for perf `pid-` and the process id; empty for the founder."},
		{"pid", Int64, Delta, "", false, "The process id."},
		{"ppid", Int64, Delta, "", false, "The parent's process id."},
		{"target", String, Dict, "", false, "The program's name."},
		{"command", String, Dict, "", false, "The command line."},
		{"started_ns", Int64, Delta, "ns", false, "When the process started, from the founder's start."},
		{"duration_ns", Int64, Delta, "ns", false, "The time from the process's start to its last event."},
		{"samples", Int64, Delta, "count", false, "The number of samples."},
		{"status", String, Dict, "", false, "As `experiments.status`, for this process."},
	}}
	Metrics = &Table{Name: "metrics", Summary: true, Row: "one metric that an experiment's data can provide, even if no event was recorded", Key: key("metric"), Columns: []Column{
		experimentID, metric,
		{"title", String, Dict, "", false, "The metric's title in the Performance Analyzer."},
		{"unit", String, Dict, "", false, "The base unit of the metric's values: ns, bytes or count."},
		{"kind", String, Dict, "", false, "The kind of samples from which the metric is computed."},
		{"data_objects", Bool, Plain, "", false, "Whether the metric's samples are memory accesses, so that they have data objects (S27)."},
		{"preferred", Bool, Plain, "", false, "Whether reports should show this metric by default, because the recording says so, or because the metrics before it (in the order of metrics) have no values. Reports show the first preferred metric or, if none is preferred, the first metric."},
	}}
	Problems = &Table{Name: "problems", Summary: true, Row: "one thing that is wrong or missing in a recording", Key: key("problem"), Columns: []Column{
		experimentID,
		{"problem", Int32, Delta, "", false, "The problem's number within the experiment."},
		{"severity", String, Dict, "", false, "`error`: records were lost or are unreadable; `warning`: names were not found, stacks end early, or the collector warned; `info`: a remark."},
		{"process", Int32, Dict, "", false, "The process that has the problem; 0 if the whole experiment has it."},
		{"file", String, Dict, "", false, "The file that has the problem: its path within the recording, or a load object's path."},
		{"offset", Int64, Plain, "bytes", true, "The offset of the problem in the file."},
		{"reason", String, Dict, "", false, "A short constant name of the reason, for grouping."},
		{"message", String, Dict, "", false, "The reason in words."},
		{"count", Int64, Delta, "count", false, "How many items (packets, events, links) are affected."},
	}}
	Recordings = &Table{Name: "recordings", Row: "the part of a recording, or of one of its processes, that no other table has, but that `resymbolize` needs to apply better symbols when the recording is gone", Key: key("part"), Columns: []Column{
		experimentID,
		{"part", Int32, Delta, "", false, "0 for the recording as a whole, otherwise the number of the process."},
		{"content", String, Plain, "", false, "JSON for this program only: versions of the program may change its structure."},
	}}
)
