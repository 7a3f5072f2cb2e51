package main

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// shown is a sample as perf shows it. What a recording lacks is empty or 0.
type shown struct {
	comm, event, object string
	thread, period      int64
}

// fields are what `perf script` is asked for, those that a recording may lack last.
var fields = []string{"event", "ip", "sym", "dso", "period", "comm", "tid", "time"}

// parts are the forms of the fields in a line of `perf script`, in its order.
var parts = []struct{ field, form string }{
	{"comm", `(?P<comm>\S.*?)\s+`}, {"tid", `(?P<tid>-?\d+)\s+`}, {"time", `\d+\.\d+:\s+`}, {"period", `(?P<period>\d+)\s+`}, {"event", `(?P<event>\S+?):\s*`},
	{"ip", `(?:[0-9a-f]+\s.*?(?:\((?P<object>[^()]*(?:\(deleted\))?)\))?)?`},
}

// lineOf returns the form of a line with these fields.
func lineOf(ask []string) *regexp.Regexp {
	form := `^\s*`
	for _, p := range parts {
		if slices.Contains(ask, p.field) {
			form += p.form
		}
	}
	return regexp.MustCompile(form + `\s*$`)
}

var lacking = regexp.MustCompile(`Cannot print '(\w+)' field`)

// script returns all samples as perf shows them.
func (r *result) script(p *program) ([]shown, error) {
	ask := slices.Clone(fields)
	for {
		args := []string{"--buildid-dir", os.DevNull, "script", "-i", r.path, "-G", "--ns", "--no-inline", "-F", strings.Join(ask, ",")}
		cmd := exec.CommandContext(p.ctx, "perf", args...)
		var out, complaints bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &complaints
		err := cmd.Run()
		if m := lacking.FindStringSubmatch(complaints.String()); m != nil && err != nil {
			if n := len(ask); m[1] == "ip" {
				ask = slices.DeleteFunc(ask, func(f string) bool { return f == "ip" || f == "sym" || f == "dso" })
			} else if ask = slices.DeleteFunc(ask, func(f string) bool { return f == m[1] }); len(ask) == n {
				return nil, fmt.Errorf("perf script: %s", complaints.Bytes())
			}
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("perf script: %w: %s", err, complaints.Bytes())
		}
		return samplesIn(&out, ask)
	}
}

func samplesIn(out *bytes.Buffer, ask []string) (list []shown, err error) {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	form := lineOf(ask)
	for lines.Scan() {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		m := form.FindStringSubmatch(lines.Text())
		if m == nil {
			return nil, fmt.Errorf("perf script: no sample: %q", lines.Text())
		}
		s := shown{period: 1}
		for n, name := range form.SubexpNames() {
			switch name {
			case "comm":
				s.comm = m[n]
			case "tid":
				s.thread, _ = strconv.ParseInt(m[n], 10, 64)
			case "period":
				s.period, _ = strconv.ParseInt(m[n], 10, 64)
			case "event":
				s.event = m[n]
			case "object":
				s.object = m[n]
			}
		}
		list = append(list, s)
	}
	return list, lines.Err()
}

// sum is a number of samples and the sum of their periods.
type sum struct{ Samples, Value int64 }

// by adds samples up by a key.
func by(list []shown, key func(*shown) string) map[string]sum {
	sums := map[string]sum{}
	for i := range list {
		k := key(&list[i])
		s := sums[k]
		sums[k] = sum{s.Samples + 1, s.Value + list[i].period}
	}
	return sums
}

// comparePerf compares numbers of samples and sums of periods by event, thread name and load
// object with perf's.
func (r *result) comparePerf(p *program) error {
	list, err := r.script(p)
	if err != nil {
		r.peer = err.Error()
		return nil
	}
	for what, c := range map[string]struct {
		sql string
		key func(*shown) string
	}{
		"event":       {`SELECT event AS key, count(*) AS samples, sum(value) AS value FROM perf_samples GROUP BY ALL`, func(s *shown) string { return s.event }},
		"thread":      {`SELECT s.thread_id AS key, count(*) AS samples, sum(v.value) AS value FROM perf_samples v JOIN samples s USING (experiment_id, sample) GROUP BY ALL`, func(s *shown) string { return fmt.Sprint(s.thread) }},
		"load object": {objectsSQL, func(s *shown) string { return objectName(s.object) }},
		"thread name": {namesSQL, func(s *shown) string { return s.comm }},
	} {
		var rows []struct {
			Key     any   `json:"key"`
			Samples int64 `json:"samples"`
			Value   int64 `json:"value"`
		}
		if err := p.query(c.sql, &rows); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		ours := map[string]sum{}
		for _, row := range rows {
			k := fmt.Sprint(row.Key)
			if what == "load object" {
				k = objectName(k)
			}
			s := ours[k]
			ours[k] = sum{s.Samples + row.Samples, s.Value + row.Value}
		}
		theirs := by(list, c.key)
		for _, k := range slices.Sorted(maps.Keys(theirs)) {
			if ours[k] != theirs[k] {
				r.differ("%s %q: %d samples, %d; perf shows %d, %d", what, k, ours[k].Samples, ours[k].Value, theirs[k].Samples, theirs[k].Value)
			}
		}
		for _, k := range slices.Sorted(maps.Keys(ours)) {
			if _, known := theirs[k]; !known {
				r.differ("%s %q: %d samples, %d; perf shows none", what, k, ours[k].Samples, ours[k].Value)
			}
		}
	}
	return nil
}

// objectName returns a load object's name as both sides are compared by it.
func objectName(name string) string {
	name = strings.TrimSuffix(name, " (deleted)")
	switch {
	case name == "" || name == "[unknown]" || strings.HasPrefix(name, "<"):
		return "[unknown]"
	case strings.HasPrefix(name, "[kernel") || strings.HasPrefix(name, "[guest.kernel"):
		return "[kernel]"
	case strings.HasPrefix(name, "["):
		return name
	case strings.HasPrefix(name, "//anon") || strings.HasPrefix(name, "anon"):
		return "[unknown]"
	}
	return strings.TrimSuffix(path.Base(name), ".ko")
}

const (
	objectsSQL = `SELECT load_object AS key, sum(exclusive) FILTER (metric LIKE '%.samples') AS samples, sum(exclusive) FILTER (metric NOT LIKE '%.samples') AS value
		FROM load_object_metrics WHERE mode = 'machine' AND load_object <> '<Total>' GROUP BY ALL`
	namesSQL = `SELECT s.thread_name AS key, count(*) AS samples, sum(v.value) AS value FROM perf_samples v JOIN samples s USING (experiment_id, sample) GROUP BY ALL`
)
