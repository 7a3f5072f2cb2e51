package digest

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"stackmill/queries"
	"stackmill/queries/rank"
	"stackmill/queries/trend"
	"stackmill/schema/storedir"
)

// groupKey identifies a group: the runs of a series in one night on one host.
type groupKey struct {
	series, metric string
	night          int
	host           string
}

// readRuns forms the series, their nights and groups of runs.
func (d *digest) readRuns() error {
	night, err := d.night()
	if err = errors.Join(err, d.checkMetric(), d.checkLabels()); err != nil {
		return err
	}
	metric := "d.metric FROM series s JOIN default_metrics d USING (experiment_id)"
	if d.Metric != "" {
		metric = "d.metric FROM series s JOIN metrics d ON d.experiment_id = s.experiment_id AND d.metric = " + queries.Quote(d.Metric)
	}
	d.placed = `WITH placed AS MATERIALIZED (
  SELECT s.experiment_id, ` + d.key() + ` AS line, s.program, s.host, s.os, ` + night + ` AS night, ` + metric + `
  WHERE d.metric IS NOT NULL
) `
	records, err := d.db.Records(d.ctx, d.placed+`SELECT line, metric, night, COALESCE(host, '') AS host, any_value(program) AS program, count(*) AS runs,
  list_sort(list(DISTINCT os)) AS systems FROM placed GROUP BY ALL`)
	if err != nil {
		return err
	}
	d.chooseNights(records)
	machines := map[string]*mixture{}
	d.of, d.at = map[[2]string]*Series{}, map[groupKey]int{}
	for _, r := range records {
		place, some := d.places[r.Text("night")]
		if !some {
			continue
		}
		key := [2]string{r.Text("line"), r.Text("metric")}
		s := d.of[key]
		if s == nil {
			s = &Series{Name: key[0], Program: r.Text("program"), Metric: key[1]}
			d.of[key], d.series = s, append(d.series, s)
		}
		n := slices.IndexFunc(s.Nights, func(n Night) bool { return n.At == place })
		if n < 0 {
			n = len(s.Nights)
			s.Nights = append(s.Nights, Night{Name: d.nights[place], At: place})
		}
		s.Nights[n].Runs += int(r.Number("runs"))
		s.Groups = append(s.Groups, Group{Night: place, Host: r.Text("host"), Runs: int(r.Number("runs"))})
		d.Experiments += int(r.Number("runs"))
		if machines[s.Name] == nil {
			machines[s.Name] = &mixture{map[string]bool{}, map[string]bool{}}
		}
		machines[s.Name].add(r)
	}
	d.warnOfMixtures(machines)
	slices.SortFunc(d.series, func(a, b *Series) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Metric, b.Metric))
	})
	for _, s := range d.series {
		s.order(d.at)
	}
	d.warnOfAbsent()
	return errors.Join(d.findSince(), d.warnOfCopies())
}

// checkMetric returns an error if no experiment has the metric.
func (d *digest) checkMetric() error {
	if d.Metric == "" {
		return nil
	}
	metrics, err := d.db.Metrics(d.ctx)
	if err != nil {
		return err
	}
	var known []string
	for _, m := range metrics {
		if m.Name == d.Metric {
			return nil
		}
		known = append(known, m.Name)
	}
	return fmt.Errorf("no metric %q%s (there are %s)", d.Metric, queries.Suggest(d.Metric, known), strings.Join(known, ", "))
}

// checkLabels returns an error if no experiment has a label that orders experiments or distinguishes
// series. It warns of experiments without a label that distinguishes series, whose values of the label
// count as equal.
func (d *digest) checkLabels() error {
	for _, asked := range slices.Concat([]string{d.Order}, d.Request.Series) {
		label, is := strings.CutPrefix(asked, labelPrefix)
		if !is {
			continue
		}
		records, err := d.db.Records(d.ctx, "SELECT count(*) AS experiments, count(*) FILTER (WHERE experiment_id IN (SELECT experiment_id FROM labels WHERE label = "+queries.Quote(label)+")) AS labeled FROM experiments")
		if err != nil {
			return err
		}
		all, labeled := int(records[0].Number("experiments")), int(records[0].Number("labeled"))
		option := "--series"
		if asked == d.Order {
			option = "--order"
		}
		switch {
		case all > 0 && labeled == 0:
			return trend.Unknown(d.ctx, d.db, option, trend.LabelKey(label))
		case option == "--series" && labeled < all:
			d.warn("%d of %d experiments have no %s, which distinguishes series", all-labeled, all, asked)
		}
	}
	return nil
}

// fewNames is how many series a warning names.
const fewNames = 5

// warnOfAbsent warns of series without experiments in the last night: what is reported of them is
// older.
func (d *digest) warnOfAbsent() {
	var absent []string
	for _, s := range d.series {
		if s.Nights[len(s.Nights)-1].At < len(d.nights)-1 {
			absent = append(absent, cmp.Or(s.Program, s.Name))
		}
	}
	if n := len(absent); n > 0 {
		names := strings.Join(absent[:min(n, fewNames)], ", ")
		if n > fewNames {
			names += fmt.Sprintf(" and %d more", n-fewNames)
		}
		d.warn("%d of %d series have no experiment of the last night, %s: %s", n, len(d.series), d.Last, names)
	}
}

// mixture has the machines and operating systems of a series.
type mixture struct{ hosts, systems map[string]bool }

func (m *mixture) add(r queries.Record) {
	m.hosts[r.Text("host")] = true
	list, _ := r["systems"].([]any)
	for _, system := range list {
		if name, some := system.(string); some && name != "" {
			m.systems[name] = true
		}
	}
}

// warnOfMixtures warns of series whose experiments come from machines that may not be alike.
func (d *digest) warnOfMixtures(of map[string]*mixture) {
	hosts, systems := 0, 0
	for _, m := range of {
		if len(m.hosts) > 1 {
			hosts++
		}
		if len(m.systems) > 1 {
			systems++
		}
	}
	if hosts > 0 {
		d.warn("%d of %d series come from several hosts, which count as equally fast (--series series,host follows each apart; the label host_class names alike ones)", hosts, len(of))
	}
	if systems > 0 {
		d.warn("%d of %d series come from several operating systems or kernels (--series series,os follows each apart)", systems, len(of))
	}
}

// order sorts the nights and groups of a series, and adds the indexes of the groups to at.
func (s *Series) order(at map[groupKey]int) {
	slices.SortFunc(s.Nights, func(a, b Night) int { return a.At - b.At })
	slices.SortFunc(s.Groups, func(a, b Group) int { return cmp.Or(a.Night-b.Night, strings.Compare(a.Host, b.Host)) })
	index := map[int]int{}
	for i, n := range s.Nights {
		index[n.At] = i
	}
	for i := range s.Groups {
		at[groupKey{s.Name, s.Metric, s.Groups[i].Night, s.Groups[i].Host}] = i
		s.Groups[i].Night = index[s.Groups[i].Night]
	}
}

// key returns SQL for the value that distinguishes series.
func (d *digest) key() string {
	var parts []string
	for _, k := range d.Series {
		label, isLabel := strings.CutPrefix(k, labelPrefix)
		value := "s." + k
		if isLabel {
			value = trend.LabelKey(label).SQL("s")
		}
		if len(d.Series) > 1 { // values alone would not say where one ends
			value = queries.Quote(label+"=") + " || COALESCE(" + value + "::VARCHAR, '')"
		}
		parts = append(parts, value)
	}
	return "concat_ws(', ', " + strings.Join(parts, ", ") + ")"
}

// night returns SQL for the night of an experiment.
func (d *digest) night() (string, error) {
	if d.Order != byStart {
		key, err := trend.ParseKey(d.Order)
		return "(SELECT " + key.SQL("e") + " FROM experiments e WHERE e.experiment_id = s.experiment_id)", err
	}
	records, err := d.db.Records(d.ctx, "SELECT count(DISTINCT started::DATE) AS dates FROM experiments")
	if err != nil {
		return "", err
	}
	if records[0].Number("dates") < rank.LeastDates {
		return "strftime(s.started, '%Y-%m-%dT%H:%M:%SZ')", nil
	}
	return "strftime(s.started, '%Y-%m-%d')", nil
}

// chooseNights sets the nights of the digest, and the first one whose changes are reported.
func (d *digest) chooseNights(records []queries.Record) {
	without := 0
	for _, r := range records {
		if night := r.Text("night"); night != "" {
			d.nights = append(d.nights, night)
		} else {
			without += int(r.Number("runs"))
		}
	}
	if without > 0 && d.Order == byStart {
		d.warn("%s left out, because an older version of stackmill ingested them and nothing says when they were recorded (stackmill label EXPERIMENT started=2026-11-28T02:00Z)", experiments(without))
	} else if without > 0 {
		d.warn("%s left out, because they have no %s", experiments(without), d.Order)
	}
	slices.SortFunc(d.nights, queries.ValueOrder(d.nights))
	d.nights = slices.Compact(d.nights)
	d.Older = max(0, len(d.nights)-d.Nights)
	d.nights = d.nights[d.Older:]
	d.places = map[string]int{}
	for i, n := range d.nights {
		d.places[n] = i
	}
	if len(d.nights) > 0 {
		d.First, d.Last = d.nights[0], d.nights[len(d.nights)-1]
	}
}

func experiments(n int) string {
	if n == 1 {
		return "1 experiment is"
	}
	return fmt.Sprintf("%d experiments are", n)
}

// findSince finds the first night whose changes are reported.
func (d *digest) findSince() error {
	if len(d.nights) == 0 {
		return nil
	}
	d.SinceNight = d.Since
	if count, is := strings.CutSuffix(d.Since, "d"); is {
		days, err := strconv.Atoi(count)
		if err != nil || days < 0 {
			return fmt.Errorf("--since: %q is neither a number of days (7d) nor a night (2026-11-21)", d.Since)
		}
		last, err := storedir.ParseStart(d.Last)
		if err != nil { // nights that are not dates are counted
			d.since = max(0, len(d.nights)-1-days)
			d.SinceNight = d.nights[d.since]
			return nil
		}
		d.SinceNight = last.AddDate(0, 0, -days).Format(time.DateOnly)
	} else if _, err := storedir.ParseStart(d.Since); err != nil && d.Order == byStart {
		return fmt.Errorf("--since: %q is neither a number of days (7d) nor a date (2026-11-21)", d.Since)
	}
	order := queries.ValueOrder(append(slices.Clone(d.nights), d.SinceNight))
	for d.since < len(d.nights) && order(d.nights[d.since], d.SinceNight) < 0 {
		d.since++
	}
	if d.since == len(d.nights) {
		d.warn("no night since %s: the newest one is %s", d.SinceNight, d.Last)
	}
	return nil
}

// warnOfCopies warns of recordings whose files have the times at which they were copied.
func (d *digest) warnOfCopies() error {
	if d.Order != byStart {
		return nil
	}
	remark, err := d.db.CopiedTogether(d.ctx, nil)
	if remark != "" {
		d.warn("%s", remark)
	}
	return err
}

// readValues reads the values of all functions.
func (d *digest) readValues() error {
	rows, err := d.db.QueryContext(d.ctx, d.placed+`SELECT p.line, p.metric, p.night, COALESCE(p.host, '') AS host,
  f.function_key, f.kind = 'artificial' AND f."function" = '<Total>' AS whole, bool_or(f.function_key = f.function_id) AS only_in_build,
  any_value(f."function") AS "function", any_value(f.load_object) AS load_object, any_value(f.module) AS module,
  sum(f.exclusive)::DOUBLE AS sum, min(f.exclusive)::DOUBLE AS least, max(f.exclusive)::DOUBLE AS most, count(*) AS present
FROM placed p JOIN function_rollup f ON f.experiment_id = p.experiment_id AND f.metric = p.metric
WHERE p.night IS NOT NULL AND f.in_`+d.Mode+` AND f.exclusive <> 0 GROUP BY 1, 2, 3, 4, 5, 6`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for _, s := range d.series { // programs that recorded nothing have values, too: 0
		s.Items = []Function{{Name: "<Total>", Values: make([]float64, len(s.Groups))}}
	}
	reader := valueReader{digest: d, known: map[*Series]map[int64]int{}}
	for rows.Next() {
		if err := reader.add(rows); err != nil {
			return err
		}
	}
	for _, s := range d.series {
		s.mergeNamesakes()
		s.sortItems()
	}
	return rows.Err()
}

// valueReader distributes values over series.
type valueReader struct {
	*digest
	known map[*Series]map[int64]int // the index of each function in its series, by the function's key
}

// add adds the value of a function in a group of runs.
func (v *valueReader) add(rows *sql.Rows) error {
	var line, metric, night, host, function, object, module string
	var key, present int64
	var whole, onlyInBuild bool
	var sum, least, most float64
	if err := rows.Scan(&line, &metric, &night, &host, &key, &whole, &onlyInBuild, &function, &object, &module, &sum, &least, &most, &present); err != nil {
		return err
	}
	place, some := v.places[night]
	if !some {
		return nil
	}
	s := v.of[[2]string{line, metric}]
	g := v.at[groupKey{line, metric, place, host}]
	if v.known[s] == nil {
		v.known[s] = map[int64]int{}
	}
	i := 0
	if !whole {
		if i, some = v.known[s][key]; !some {
			i = len(s.Items)
			v.known[s][key] = i
			s.Items = append(s.Items, Function{Key: key, Name: function, Object: object, Module: module, Values: make([]float64, len(s.Groups))})
		}
		s.Items[i].onlyInBuild = s.Items[i].onlyInBuild || onlyInBuild
	}
	s.Items[i].Values[g] += rank.Middle(sum, least, most, int(present), s.Groups[g].Runs)
	return nil
}

// mergeNamesakes adds up functions of one name if one of them can be distinguished only within its
// build: its key differs in the next build, and in another build the name may have a key of its own.
func (s *Series) mergeNamesakes() {
	type name struct{ function, object, module string }
	of := func(f *Function) name {
		return name{f.Name, f.Object, f.Module[strings.LastIndexByte(f.Module, '/')+1:]}
	}
	sums := map[name]int{} // index of the function that has the sum
	for i := range s.Items {
		if f := &s.Items[i]; f.onlyInBuild {
			sums[of(f)] = -1
		}
	}
	kept := s.Items[:1] // <Total>
	for _, f := range s.Items[1:] {
		at, merged := sums[of(&f)]
		if merged && at >= 0 {
			for g, value := range f.Values {
				kept[at].Values[g] += value
			}
			continue
		}
		if merged {
			sums[of(&f)] = len(kept)
		}
		kept = append(kept, f)
	}
	s.Items = kept
}

// sortItems sorts functions by name, after <Total>.
func (s *Series) sortItems() {
	slices.SortFunc(s.Items[1:], func(a, b Function) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Object, b.Object), cmp.Compare(a.Key, b.Key))
	})
}
