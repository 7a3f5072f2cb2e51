package serve

import (
	"cmp"
	"fmt"
	"strings"
)

// memoryAnswer has the pieces of memory (cache lines or pages) that the selection accessed, by value.
type memoryAnswer struct {
	Metric      string        `json:"metric"`
	Unit        string        `json:"unit"`
	By          string        `json:"by"`
	Experiments int64         `json:"experiments"` // with data addresses
	Without     int64         `json:"without"`     // selected experiments without any
	Total       int64         `json:"total"`       // the metric's value of <Total> in these experiments
	Value       int64         `json:"value"`       // of the accesses with a data address
	Reads       int64         `json:"reads"`
	Writes      int64         `json:"writes"` // reads and writes do not sum to value if the recording does not say what some accesses are
	Pieces      int64         `json:"pieces"` // how many there are
	Shared      int64         `json:"shared"` // how many are marked shared, or may be false sharing
	Rows        []memoryPiece `json:"rows"`
}

// memoryPiece is a cache line or a page of one process of one experiment.
type memoryPiece struct {
	ExperimentID string  `json:"experiment_id"`
	Experiment   string  `json:"experiment"`
	Process      int64   `json:"process"`
	Address      string  `json:"address"` // hexadecimal
	Size         int64   `json:"size"`
	Assumed      bool    `json:"assumed"` // whether the size is not recorded but assumed
	Region       string  `json:"region"`  // the kind of memory
	Name         string  `json:"name"`    // of the region
	Value        int64   `json:"value"`
	Samples      int64   `json:"samples"`
	Reads        int64   `json:"reads"`
	Writes       int64   `json:"writes"`
	Threads      int64   `json:"threads"`
	CPUs         int64   `json:"cpus"` // 0 if not recorded
	Objects      int64   `json:"objects"`
	Top          *string `json:"top"`     // the data object with the largest value
	Sharing      string  `json:"sharing"` // shared, false (it may be false sharing), unknown (no access is known to be a read or a write), or empty
}

// accessRow is the accesses of one thread to one address, by one line of code.
type accessRow struct {
	Offset     int64   `json:"offset"` // in the piece
	Object     *string `json:"object"` // descriptor of the data object, if it is known
	Thread     int64   `json:"thread"`
	ThreadName *string `json:"thread_name"`
	CPUs       []int64 `json:"cpus"`
	Value      int64   `json:"value"`
	Samples    int64   `json:"samples"`
	Reads      int64   `json:"reads"`
	Writes     int64   `json:"writes"`
	Function   string  `json:"function"`
	LoadObject string  `json:"load_object"`
	File       string  `json:"file"`
	Line       int64   `json:"line"`
}

// accesses is SQL for common table expressions: `accesses` has the samples of the metric $1 with a data address. Their
// operation is 2 for a read, 4 for a write, and 0 if the recording does not say: perf says it in the data source, or in
// the name of a breakpoint. `piece` is the first address of the piece of memory, whose size is size.
func accesses(by string) string {
	size := "coalesce(cache_line_size, 64)"
	if by == "page" {
		size = "CASE WHEN page_size > 64 THEN page_size ELSE 4096 END"
	}
	return `WITH sizes AS (SELECT experiment_id, ` + size + ` AS size, ` + fmt.Sprint(by != "page") + ` AND cache_line_size IS NULL AS assumed FROM experiments),
addresses AS (
  SELECT experiment_id, sample, data_address AS address, CASE WHEN coalesce(data_source, 0) & 6 IN (2, 4) THEN data_source & 6
    WHEN regexp_matches(event, '^mem:0x[0-9a-f]+(/[0-9]+)?:w(:|$)') THEN 4 WHEN regexp_matches(event, '^mem:0x[0-9a-f]+(/[0-9]+)?:r(:|$)') THEN 2 ELSE 0 END AS operation
  FROM perf_samples WHERE data_address <> 0
  UNION ALL
  SELECT experiment_id, sample, data_address, CASE WHEN coalesce(data_source, 0) & 6 IN (2, 4) THEN data_source & 6 ELSE 0 END
  FROM hwc_samples WHERE data_address NOT BETWEEN 0 AND 254 -- smaller ones are codes
),
valued AS (
  SELECT a.*, v.value FROM addresses a JOIN sample_metrics v ON v.experiment_id = a.experiment_id AND v.sample = a.sample AND v.metric = $1
),
run AS (
  SELECT v.*, s.process, s.thread_id, s.cpu FROM valued v JOIN samples s USING (experiment_id, sample)
),
accesses AS (
  SELECT r.*, d.memory_region_id, d.location_id, IF(d.method = '', NULL, d.data_object_id) AS object, z.size, z.assumed, r.address & -z.size AS piece
  FROM run r JOIN data_samples d USING (experiment_id, sample) JOIN sizes z USING (experiment_id)
)
`
}

// piecesQuery is SQL for the pieces: rows of memoryPiece, and the sums over all of them in columns all_NAME. A piece is
// shared if several threads access it and one of them writes. That may be false sharing if a thread that writes and
// another thread have no address in common.
const piecesQuery = `, touched AS MATERIALIZED (
  SELECT experiment_id, process, piece, size, assumed, thread_id, address - piece AS place, object, memory_region_id, cpu, operation, sum(value)::BIGINT AS value, count(*) AS samples
  FROM accesses GROUP BY ALL
),
by_thread AS (
  SELECT experiment_id, process, piece, thread_id, list(DISTINCT place) AS places, bool_or(operation = 4) AS writes FROM touched GROUP BY experiment_id, process, piece, thread_id
  QUALIFY count(*) OVER (PARTITION BY experiment_id, process, piece) > 1
),
apart AS (
  SELECT DISTINCT a.experiment_id, a.process, a.piece FROM by_thread a JOIN by_thread b USING (experiment_id, process, piece)
  WHERE a.writes AND a.thread_id <> b.thread_id AND NOT list_has_any(a.places, b.places)
),
by_object AS (
  SELECT experiment_id, process, piece, object, sum(value) AS value FROM touched WHERE object IS NOT NULL GROUP BY ALL
),
tops AS (
  SELECT experiment_id, process, piece, count(*) AS objects, arg_max(object, (value, object)) AS object FROM by_object GROUP BY ALL
),
pieces AS (
  SELECT experiment_id, process, piece, any_value(size) AS size, any_value(assumed) AS assumed, min(memory_region_id) AS region, count(DISTINCT memory_region_id) AS regions,
    sum(value)::BIGINT AS value, sum(samples)::BIGINT AS samples, coalesce(sum(value) FILTER (operation = 2), 0)::BIGINT AS reads, coalesce(sum(value) FILTER (operation = 4), 0)::BIGINT AS writes,
    count(DISTINCT thread_id) AS threads, count(DISTINCT cpu) FILTER (cpu >= 0) AS cpus, max(operation) > 0 AS says
  FROM touched GROUP BY ALL
),
marked AS MATERIALIZED (
  SELECT p.*, CASE WHEN threads < 2 THEN '' WHEN f.piece IS NOT NULL AND $2 = 'cache-line' THEN 'false' WHEN writes > 0 THEN 'shared' WHEN says THEN '' ELSE 'unknown' END AS sharing
  FROM pieces p LEFT JOIN apart f USING (experiment_id, process, piece)
),
sums AS (
  SELECT count(*) AS all_pieces, count(*) FILTER (sharing IN ('shared', 'false')) AS all_shared, sum(value)::BIGINT AS all_value, sum(reads)::BIGINT AS all_reads, sum(writes)::BIGINT AS all_writes
  FROM marked
),
shown AS (
  FROM marked CROSS JOIN sums ORDER BY $3 AND sharing = '', value DESC, experiment_id, process, piece LIMIT $4
)
SELECT s.experiment_id, n.experiment, s.process, '0x' || lower(to_hex(s.piece)) AS address, s.size, s.assumed, coalesce(IF(s.regions = 1, r.kind, 'several'), 'unknown') AS region,
  coalesce(IF(s.regions = 1, r.name, ''), '') AS name, s.value, s.samples, s.reads, s.writes, s.threads, s.cpus, coalesce(t.objects, 0) AS objects, o.descriptor AS top, s.sharing,
  s.all_pieces, s.all_shared, s.all_value, s.all_reads, s.all_writes
FROM shown s
LEFT JOIN experiment_names n USING (experiment_id)
LEFT JOIN memory_regions r ON r.experiment_id = s.experiment_id AND r.memory_region_id = s.region
LEFT JOIN tops t ON t.experiment_id = s.experiment_id AND t.process = s.process AND t.piece = s.piece
LEFT JOIN data_objects o ON o.experiment_id = s.experiment_id AND o.data_object_id = t.object
ORDER BY $3 AND s.sharing = '', s.value DESC, s.experiment_id, s.process, s.piece`

// piecesReads are the tables and views that the queries of pieces read.
var piecesReads = []string{"perf_samples", "hwc_samples", "samples", "sample_metrics", "data_samples", "memory_regions", "data_objects", "metrics", "default_metrics", "metric_totals", "thread_names", "locations", "functions", "load_objects"}

// listMemory answers with cache lines or pages by value, or those that are shared first.
func listMemory(w *job) error {
	by := cmp.Or(w.values.Get("by"), "cache-line")
	limit, err := w.intValue("limit", 200)
	if err != nil {
		return err
	}
	db, done, err := w.openData(piecesReads...)
	if err != nil {
		return err
	}
	defer done()
	a := memoryAnswer{By: by, Rows: []memoryPiece{}, Without: int64(db.Count)}
	if a.Metric, a.Unit, err = chooseDataMetric(w.ctx, db, w.values.Get("metric")); err != nil {
		return err
	}
	if a.Metric == "" {
		return w.writeExact(a)
	}
	type sums struct {
		Experiments int64 `json:"experiments"`
		Total       int64 `json:"total"`
	}
	s, err := readRow[sums](w.ctx, db, `WITH having_addresses AS (
  SELECT experiment_id FROM perf_samples WHERE data_address <> 0 UNION SELECT experiment_id FROM hwc_samples WHERE data_address NOT BETWEEN 0 AND 254
)
SELECT count(*) AS experiments, coalesce(sum(value), 0)::BIGINT AS total FROM metric_totals SEMI JOIN having_addresses USING (experiment_id) WHERE mode = 'user' AND metric = $1`, a.Metric)
	if err != nil {
		return err
	}
	a.Experiments, a.Total, a.Without = s.Experiments, s.Total, int64(db.Count)-s.Experiments
	type row struct {
		memoryPiece
		Pieces int64 `json:"all_pieces"`
		Shared int64 `json:"all_shared"`
		Value  int64 `json:"all_value"`
		Reads  int64 `json:"all_reads"`
		Writes int64 `json:"all_writes"`
	}
	rows, err := readRows[row](w.ctx, db, accesses(by)+piecesQuery, a.Metric, by, w.values.Get("first") == "shared", max(limit, 1))
	if err != nil {
		return err
	}
	for _, r := range rows {
		a.Pieces, a.Shared, a.Value, a.Reads, a.Writes = r.Pieces, r.Shared, r.Value, r.Reads, r.Writes
		a.Rows = append(a.Rows, r.memoryPiece)
	}
	if limit == 0 {
		a.Rows = a.Rows[:0]
	}
	return w.writeExact(a)
}

// listAccesses answers with the accesses to one piece of memory, by address, thread and line of code.
func listAccesses(w *job) error {
	process, err := w.intValues("process")
	if err != nil {
		return err
	}
	address := strings.ToLower(w.values.Get("address"))
	db, done, err := w.openData(piecesReads...)
	if err != nil {
		return err
	}
	defer done()
	if db.Count != 1 {
		return badRequest(fmt.Errorf("experiment selects %d experiments: an address is of one", db.Count))
	}
	metric, _, err := chooseDataMetric(w.ctx, db, w.values.Get("metric"))
	if err != nil {
		return err
	}
	rows, err := readRows[accessRow](w.ctx, db, accesses(w.values.Get("by"))+`, here AS (
  SELECT experiment_id, process, thread_id, address - piece AS place, object, location_id, list(DISTINCT cpu ORDER BY cpu) FILTER (cpu >= 0) AS cpus, sum(value)::BIGINT AS value, count(*) AS samples,
    coalesce(sum(value) FILTER (operation = 2), 0)::BIGINT AS reads, coalesce(sum(value) FILTER (operation = 4), 0)::BIGINT AS writes
  FROM accesses WHERE process = $2 AND '0x' || lower(to_hex(piece)) = $3 GROUP BY ALL
),
named AS (
  SELECT experiment_id, process, thread_id, arg_max(thread_name, name_no) AS thread_name FROM thread_names GROUP BY ALL
)
SELECT h.place AS "offset", o.descriptor AS object, h.thread_id AS thread, n.thread_name, coalesce(h.cpus, []) AS cpus, h.value, h.samples, h.reads, h.writes,
  coalesce(f.name, '') AS "function", coalesce(b.name, '') AS load_object, coalesce(l.file, '') AS file, coalesce(l.line, 0) AS line
FROM here h
LEFT JOIN data_objects o ON o.experiment_id = h.experiment_id AND o.data_object_id = h.object
LEFT JOIN named n ON n.experiment_id = h.experiment_id AND n.process = h.process AND n.thread_id = h.thread_id
LEFT JOIN locations_wide l ON l.experiment_id = h.experiment_id AND l.location_id = h.location_id
LEFT JOIN functions f ON f.experiment_id = h.experiment_id AND f.function_id = l.function_id
LEFT JOIN load_objects b ON b.experiment_id = h.experiment_id AND b.load_object_id = l.load_object_id
ORDER BY h.place, h.value DESC, thread, "function", line`, metric, process[0], address)
	if err != nil {
		return err
	}
	return w.writeExact(rows)
}
