package serve

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"stackmill/queries"
	"stackmill/queries/result"
)

// Limits of a heat map.
const (
	heatColumns   = 300 // columns by default
	mostColumns   = 4000
	fewestColumns = 10 // columns are shorter than a second rather than fewer
	heatCells     = 50 // cells of a column by default
	mostCells     = 1000
)

// heatSteps are the lengths of a column.
var heatSteps = []time.Duration{
	time.Millisecond, 10 * time.Millisecond, 100 * time.Millisecond, time.Second, 10 * time.Second,
	time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour, 10 * 24 * time.Hour, 100 * 24 * time.Hour, 1000 * 24 * time.Hour,
}

// heatMap has the values of a metric by column, a length of time, and by cell within the column. Times are since the
// start of each experiment.
type heatMap struct {
	Metric      string   `json:"metric"`
	Unit        string   `json:"unit"`
	Experiments int      `json:"experiments"`
	Lacking     int      `json:"lacking"` // experiments that do not have the metric
	Start       int64    `json:"t0_ns"`   // the recorded time
	End         int64    `json:"t1_ns"`
	From        int64    `json:"from_ns"` // start of the first column
	Until       int64    `json:"until_ns"`
	Timed       bool     `json:"timed"`
	Column      int64    `json:"column_ns"`
	Coarser     bool     `json:"coarser"` // whether columns are longer than was asked, because there would be too many
	Columns     int64    `json:"columns"`
	Cells       int64    `json:"cells"` // of a column
	Value       int64    `json:"value"` // of all cells
	Whole       int64    `json:"whole"` // in the recorded time
	Marked      int64    `json:"marked"`
	Values      heatList `json:"values"`
}

// heatList has the cells with a value, counted over all columns.
type heatList struct{ cells, values []int64 }

// MarshalJSON writes a list for each property.
func (l heatList) MarshalJSON() ([]byte, error) {
	if l.cells == nil {
		l.cells, l.values = []int64{}, []int64{}
	}
	return json.Marshal(map[string][]int64{"cell": l.cells, "value": l.values})
}

// showHeatMap answers with the values of a metric by cell.
func showHeatMap(w *job) error {
	v := w.values
	f, err := w.filter(cmp.Or(v.Get("mode"), "user"), false)
	if err != nil {
		return err
	}
	most, err := w.intValue("limit", heatColumns)
	if err != nil {
		return err
	}
	cells, err := w.intValue("cells", heatCells)
	if err != nil {
		return err
	}
	if most < 1 || most > mostColumns || cells < 1 || cells > mostCells {
		return badRequest(fmt.Errorf("limit is from 1 to %d and cells from 1 to %d", mostColumns, mostCells))
	}
	asked := time.Duration(0)
	if text := v.Get("column"); text != "" {
		if asked, err = time.ParseDuration(text); err != nil || asked < time.Duration(cells) {
			return badRequest(fmt.Errorf("column: %q is not a duration such as 1s, of at least a nanosecond for each cell", text))
		}
	}
	h := &heatMap{Cells: int64(cells)}
	if h.From, h.Until, err = shownTime(v.Get("time")); err != nil {
		return badRequest(err)
	}
	marked := [2]int64{}
	if text := v.Get("marked"); text != "" {
		if marked[0], marked[1], err = shownTime(text); err != nil {
			return badRequest(fmt.Errorf("marked: %w", err))
		}
	}
	db, done, err := w.openMetric(f, []string{"sample_metrics", "samples"}, v["experiment"]...)
	if err != nil {
		return err
	}
	defer done()
	if h.Metric, h.Unit, err = chooseMetric(w.ctx, db, v.Get("metric")); err != nil {
		return err
	}
	h.Experiments = db.Count
	if h.Lacking, err = lacking(w.ctx, db, h.Metric); err != nil {
		return err
	}
	conn, err := db.Conn(w.ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	var first, last sql.NullInt64
	if err := conn.QueryRowContext(w.ctx, "SELECT min(time_ns), max(time_ns) FROM samples").Scan(&first, &last); err != nil {
		return err
	}
	if first.Int64 < -maxTime || last.Int64 > maxTime {
		return errTimes
	}
	h.Start, h.End, h.Timed = min(first.Int64, 0), last.Int64+1, last.Int64 > first.Int64
	h.divide(int64(asked), int64(most))
	err = result.Batches(w.ctx, conn, func(b arrow.RecordBatch) error {
		numbers, values, parts := int64s(b, 0), int64s(b, 1), int64s(b, 2)
		for i, n := range numbers {
			h.Whole, h.Marked = h.Whole+values[i], h.Marked+parts[i]
			if n >= 0 {
				h.Value += values[i]
				h.Values.cells, h.Values.values = append(h.Values.cells, n), append(h.Values.values, values[i])
			}
		}
		return nil
	}, fmt.Sprintf(`SELECT IF(s.time_ns >= %[1]d AND s.time_ns < %[2]d, (s.time_ns - %[1]d) // %[3]d * %[5]d + ((s.time_ns - %[1]d) %% %[3]d) // %[4]d, -1)::BIGINT AS cell,
  sum(v.value)::BIGINT, coalesce(sum(v.value) FILTER (s.time_ns >= %[6]d AND s.time_ns < %[7]d), 0)::BIGINT
FROM sample_metrics v JOIN samples s USING (experiment_id, sample) WHERE v.metric = %[8]s GROUP BY 1 ORDER BY 1`,
		h.From, h.Until, h.Column, h.Column/h.Cells, h.Cells, marked[0], marked[1], queries.Quote(h.Metric)))
	if err != nil {
		return err
	}
	return w.writeExact(h)
}

// divide chooses the length of columns, of which there are at most so many: the asked one, or else a second; a longer
// one if there would be too many, and a shorter one if there would be too few.
func (h *heatMap) divide(asked, most int64) {
	h.From, h.Until = max(h.From, h.Start), min(h.Until, h.End)
	if h.Until <= h.From {
		h.From, h.Until = h.Start, h.End
	}
	fits := func(column int64) bool { return (h.Until-1)/column-h.From/column < most }
	h.Column = cmp.Or(asked, int64(time.Second))
	for i := len(heatSteps) - 1; i >= 0 && asked == 0; i-- {
		if step := int64(heatSteps[i]); step < h.Column && (h.Until-h.From)/h.Column < fewestColumns && step >= h.Cells {
			h.Column = step
		}
	}
	for i := 0; i < len(heatSteps) && !fits(h.Column); i++ {
		if step := int64(heatSteps[i]); step > h.Column && step%h.Cells == 0 {
			h.Column, h.Coarser = step, asked != 0
		}
	}
	if rest := h.Column % h.Cells; rest != 0 { // all cells have the same length
		h.Column += h.Cells - rest
	}
	h.From = floorTo(h.From, h.Column)
	h.Until = floorTo(h.Until+h.Column-1, h.Column)
	h.Columns = (h.Until - h.From) / h.Column
}
