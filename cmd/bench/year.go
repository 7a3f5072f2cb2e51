package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"stackmill/pipeline"
	"stackmill/queries"
	"stackmill/schema/storedir"
)

// life simulates a store that gets new experiments every night and keeps them for some time.
type life struct {
	program, cache, dir string
	shared              string // the folder of the load objects
	began               time.Time
	nights              int
	jobs                int // experiments per night
	stay                int // nights until experiments are deleted or (every second night's) summarized
	week                int // nights after which forget and compact run again, and recordings are removed
	month               int // nights after which the store is queried and checked again
	all                 []night
}

// night has what is known about the experiments of a night.
type night struct {
	samples, sum int64
	status       string // complete, summary or forgotten
}

// month has the costs of a month, and the size of the store at its end.
type month struct {
	nights    int
	night     run // ingest and label, in all nights of the month
	upkeep    run // forget and compact, in the month
	files     int
	bytes     int64
	whole     int // experiments with samples
	summaries int // experiments that are summaries
	questions time.Duration
	check     run
}

// Options of the simulated year, and a target: yearEven is the maximum time of a night in the last
// month, divided by that in the first month in which experiments are deleted. Until then, the store
// grows.
const (
	yearJobs  = 30
	yearStay  = 90
	yearMonth = 30
	yearEven  = 1.2
)

// year measures a store that gets experiments night after night.
func (b *bench) year() error {
	shared, err := sharedObjects(filepath.Join(b.dir, "scale-objects"))
	if err != nil {
		return err
	}
	l := &life{program: b.program, cache: b.cache(), dir: filepath.Join(b.dir, "year"), shared: shared, nights: b.nights, jobs: yearJobs, stay: yearStay, week: 7, month: yearMonth}
	defer os.RemoveAll(l.dir)
	months, err := l.run()
	printMonths(months)
	if err != nil {
		return err
	}
	first, last := yearStay/yearMonth, b.nights/yearMonth-1
	if last <= first {
		b.figures.skip("a night of the last month", fmt.Sprintf("fewer than %d nights", (first+2)*yearMonth))
		return nil
	}
	for _, f := range []struct {
		work  string
		value func(m month) float64
	}{
		{"CPU of a night of the last month", func(m month) float64 { return m.night.CPU.Seconds() / float64(m.nights) }},
		{"CPU of upkeep of the last month", func(m month) float64 { return m.upkeep.CPU.Seconds() / float64(m.nights) }},
		{"bytes of an experiment after the last month", func(m month) float64 { return float64(m.bytes) / float64(m.whole) }},
	} {
		b.figures.add(figure{work: f.work, against: fmt.Sprintf("month %d", first+1), value: f.value(months[last]) / f.value(months[first]), target: yearEven})
	}
	return nil
}

// run simulates all nights.
func (l *life) run() (months []month, err error) {
	if err := os.RemoveAll(l.dir); err != nil {
		return nil, err
	}
	l.began = time.Now()
	var m month
	for n := range l.nights {
		if err := l.record(n); err != nil {
			return months, err
		}
		if err := l.night(n, &m); err != nil {
			return months, fmt.Errorf("night %d: %w", n, err)
		}
		if (n+1)%l.week == 0 {
			if err := l.keepUp(n, &m); err != nil {
				return months, fmt.Errorf("after night %d: %w", n, err)
			}
		}
		if m.nights++; m.nights == l.month || n == l.nights-1 {
			if err := l.look(&m); err != nil {
				return months, fmt.Errorf("the month up to night %d: %w", n, err)
			}
			months, m = append(months, m), month{}
		}
	}
	return months, nil
}

const day = 24 * time.Hour

// record makes the recordings of night n, and removes those of a week before. The last night is
// yesterday.
func (l *life) record(n int) error {
	known := night{status: pipeline.Complete}
	for job := n * l.jobs; job < (n+1)*l.jobs; job++ {
		like := small(job)
		like.objects, like.wall = l.shared, l.began.Add(time.Duration(n-l.nights)*day+day/2).Unix()+int64(job%l.jobs)
		if err := composeWhole(filepath.Join(l.recordings(), nightFolder(n), fmt.Sprintf("job-%05d.er", job)), like); err != nil {
			return err
		}
		known.samples += int64(like.records)
	}
	l.all = append(l.all, known)
	return os.RemoveAll(filepath.Join(l.recordings(), nightFolder(n-l.week)))
}

func (l *life) recordings() string { return filepath.Join(l.dir, "recordings") }
func (l *life) store() string      { return filepath.Join(l.dir, "store") }

// does runs a verb on the store, and adds the run's time and memory to sum.
func (l *life) does(sum *run, verb string, args ...string) error {
	r, err := measure(l.program, append([]string{verb, "--store", l.store()}, args...)...)
	sum.Elapsed, sum.CPU, sum.Memory = sum.Elapsed+r.Elapsed, sum.CPU+r.CPU, max(sum.Memory, r.Memory)
	return err
}

// allocated is SQL for the bytes that all experiments have allocated, according to a view.
const allocated = "SELECT coalesce(sum(inclusive), 0)::BIGINT FROM %s WHERE mode = 'user' AND metric = 'heapallocbytes' AND function = '<Total>'"

// night ingests the recordings of the last week, most of which are in the store already, and labels
// those of night n.
func (l *life) night(n int, m *month) error {
	if err := l.does(&m.night, "ingest", "--cache", l.cache, "--recursive", "--label-from", "night-(?P<night>[0-9]+)", l.recordings()); err != nil {
		return err
	}
	tonight := fmt.Sprintf("night=%03d", n)
	if err := l.does(&m.night, "label", tonight, "keep="+[]string{"sums", "nothing"}[n%2]); err != nil {
		return err
	}
	db, err := queries.OpenWith(context.Background(), l.store(), queries.Options{Only: []string{tonight}})
	if err != nil {
		return err
	}
	defer db.Close()
	return db.QueryRow(fmt.Sprintf(allocated, "function_metrics")).Scan(&l.all[n].sum)
}

// keepUp deletes or summarizes old experiments, and then merges batches.
func (l *life) keepUp(n int, m *month) error {
	if old := n - l.stay; old > 0 { // earlier nights are deleted or summarized
		age := fmt.Sprintf("%dd", l.nights-old)
		if err := l.does(&m.upkeep, "forget", "--older-than", age, "--keep-rollups", "keep=sums"); err != nil {
			return err
		}
		if err := l.does(&m.upkeep, "forget", "--older-than", age, "keep=nothing"); err != nil {
			return err
		}
		for i := range old {
			l.all[i].status = []string{storedir.Summary, storedir.Forgotten}[i%2]
		}
	}
	return l.does(&m.upkeep, "compact", "--keep", "0")
}

// look measures the store's size, queries the store and checks it.
func (l *life) look(m *month) (err error) {
	if m.files, err = filesBelow(l.store()); err != nil {
		return err
	}
	if m.bytes, err = size(l.store()); err != nil {
		return err
	}
	db, err := queries.Open(context.Background(), l.store())
	if err != nil {
		return err
	}
	defer db.Close()
	begin := time.Now()
	for _, q := range scaleQuestions {
		if _, err := db.Records(context.Background(), strings.ReplaceAll(q.sql, "JOB", fmt.Sprintf("job-%05d.er", len(l.all)*l.jobs-1))); err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
	}
	m.questions = time.Since(begin)
	if err := l.compare(db, m); err != nil {
		return err
	}
	return l.does(&m.check, "check")
}

// compare counts the experiments in the store, and returns an error if they are not those that
// should be there.
func (l *life) compare(db *queries.DB, m *month) error {
	var want, got struct{ samples, whole, sum int64 }
	for _, n := range l.all {
		switch n.status {
		case pipeline.Complete:
			m.whole += l.jobs
			want.samples, want.whole = want.samples+n.samples, want.whole+n.sum
			want.sum += n.sum
		case storedir.Summary:
			m.summaries += l.jobs
			want.sum += n.sum
		}
	}
	for query, to := range map[string]*int64{
		"SELECT count(*) FROM heap_samples":        &got.samples,
		fmt.Sprintf(allocated, "function_metrics"): &got.whole,
		fmt.Sprintf(allocated, "function_trends"):  &got.sum,
	} {
		if err := db.QueryRow(query).Scan(to); err != nil {
			return err
		}
	}
	counts := map[bool]int{}
	for _, e := range db.Experiments() {
		counts[e.Status == storedir.Summary]++
	}
	if got != want || counts[false] != m.whole || counts[true] != m.summaries {
		return fmt.Errorf("the store has %+v of %v experiments (whole or not), not %+v of %d whole ones and %d sums", got, counts, want, m.whole, m.summaries)
	}
	return nil
}

// printMonths prints the costs of each month.
func printMonths(months []month) {
	t := table.NewWriter()
	t.SetOutputMirror(os.Stdout)
	t.AppendHeader(table.Row{"month", "nights", "CPU a night", "s a night", "CPU of upkeep a night", "experiments", "of which sums", "files", "MB", "questions", "check CPU"})
	for i, m := range months {
		each := func(d time.Duration) time.Duration { return (d / time.Duration(m.nights)).Round(time.Millisecond) }
		t.AppendRow(table.Row{i + 1, m.nights, each(m.night.CPU), each(m.night.Elapsed), each(m.upkeep.CPU), m.whole, m.summaries, m.files,
			fmt.Sprintf("%.1f", float64(m.bytes)/1e6), m.questions.Round(time.Millisecond), m.check.CPU.Round(time.Millisecond)})
	}
	t.Render()
}
