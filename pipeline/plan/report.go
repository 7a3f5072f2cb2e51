package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"stackmill/internal/safefile"
	"stackmill/schema/storedir"
)

// Dir is the folder of a store that has the reports of tasks: in it a folder for each plan, and in
// that a file for each chunk. The report is that of the chunk's last task that ended.
const Dir = storedir.PlansDir

// ReportPath returns the path of the report of a chunk.
func ReportPath(store, plan string, chunk int) string {
	return filepath.Join(store, Dir, plan, strconv.Itoa(chunk)+".json")
}

// Report has the fields of an ingest report (docs/operations.md) that matter here.
type Report struct {
	Version    int           `json:"report_version"`
	Ended      time.Time     `json:"ended"`
	ExitStatus int           `json:"exit_status"`
	Error      string        `json:"error"`
	Inputs     []ReportInput `json:"inputs"`
}

// ReportInput describes one input.
type ReportInput struct {
	Path         string                `json:"path"`
	ExperimentID string                `json:"experiment_id"`
	Status       string                `json:"status"`
	InStore      bool                  `json:"in_store"`
	Batch        string                `json:"batch"`
	Bytes        int64                 `json:"recording_bytes"`
	Seconds      float64               `json:"seconds"`
	Error        string                `json:"error"`
	Noted        storedir.JournalEntry `json:"noted"`
}

const reportVersion = 1

// ReadReport reads the report of an ingest.
func ReadReport(path string) (*Report, error) {
	data, err := safefile.Read(path, safefile.Report)
	if err != nil {
		return nil, err
	}
	r := &Report{}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("%s: not the report of an ingest: %w", path, err)
	}
	if r.Version != reportVersion {
		return nil, fmt.Errorf("%s: not the report of an ingest: it has report_version %d, but this program knows %d", path, r.Version, reportVersion)
	}
	return r, nil
}

// Reports calls yield for each report that tasks have left in a store, sorted by path. If a report
// is unreadable, yield gets the error instead.
func Reports(store string, yield func(*Report, error)) error {
	if err := storedir.Sync(store, Dir); err != nil {
		return err
	}
	paths, err := reportPaths(store)
	for _, p := range paths {
		r, err := ReadReport(p)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		yield(r, err)
	}
	return err
}

func reportPaths(store string) (paths []string, err error) {
	plans, err := os.ReadDir(filepath.Join(store, Dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, p := range plans {
		reports, rerr := os.ReadDir(filepath.Join(store, Dir, p.Name()))
		err = errors.Join(err, rerr)
		for _, r := range reports {
			if filepath.Ext(r.Name()) == ".json" && r.Name()[0] != '.' {
				paths = append(paths, filepath.Join(store, Dir, p.Name(), r.Name()))
			}
		}
	}
	slices.Sort(paths)
	return paths, err
}

// Noted returns the journal entries of a report's inputs, by path.
func (r *Report) Noted() map[string]storedir.JournalEntry {
	all := map[string]storedir.JournalEntry{}
	for i := range r.Inputs {
		if in := &r.Inputs[i]; in.Noted.ExperimentID != "" {
			all[in.Path] = in.Noted
		}
	}
	return all
}
