package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// functionRow is a row of `gprofng display text -functions` with one metric: exclusive and
// inclusive values, and a name.
var functionRow = regexp.MustCompile(`^\s*([\d.]+)\s+([\d.]+)\s+(\S.*?)\s*$`)

// compareGprofng compares the functions of an experiment's clock data in machine mode with
// gprofng's, by name.
func (r *result) compareGprofng(p *program) error {
	cmd := exec.CommandContext(p.ctx, "gprofng", "display", "text", "-limit", "0", "-viewmode", "machine", "-metrics", "e.totalcpu:i.totalcpu:name", "-functions", r.path)
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.peer = fmt.Sprintf("gprofng: %v: %s", err, bytes.TrimSpace(out))
		return nil
	}
	var rows []struct {
		Function  string `json:"function"`
		Exclusive int64  `json:"exclusive"`
		Inclusive int64  `json:"inclusive"`
	}
	if err := p.query(`SELECT function, sum(exclusive) AS exclusive, sum(inclusive) AS inclusive FROM function_metrics WHERE mode = 'machine' AND metric = 'totalcpu' GROUP BY ALL`, &rows); err != nil {
		return err
	}
	ours := map[string][2]int64{}
	for _, row := range rows {
		v := ours[bare(row.Function)]
		ours[bare(row.Function)] = [2]int64{v[0] + row.Exclusive, v[1] + row.Inclusive}
	}
	theirs := map[string][2]int64{}
	for _, line := range strings.Split(string(out), "\n") {
		if m := functionRow.FindStringSubmatch(line); m != nil {
			v := theirs[bare(m[3])]
			theirs[bare(m[3])] = [2]int64{v[0] + milliseconds(m[1]), v[1] + milliseconds(m[2])}
		}
	}
	for name, v := range theirs {
		o := ours[name]
		if a, b := o[0]/1e6-v[0], o[1]/1e6-v[1]; a > 1 || a < -1 || b > 1 || b < -1 {
			r.differ("%s: %d and %d ms, gprofng shows %d and %d", name, o[0]/1e6, o[1]/1e6, v[0], v[1])
		}
	}
	return nil
}

// bare is a function's name without parameters and marks.
func bare(name string) string {
	name, _, _ = strings.Cut(name, " [")
	name, _, _ = strings.Cut(name, " (")
	name, _, _ = strings.Cut(name, "(")
	return name
}

// milliseconds reads a number of seconds.
func milliseconds(text string) int64 {
	v, _ := strconv.ParseFloat(text, 64)
	return int64(v*1000 + 0.5)
}
