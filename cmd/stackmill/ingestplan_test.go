package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"stackmill/pipeline/plan"
	"stackmill/pipeline/runner"
	"stackmill/schema/storedir"
)

// tasks has a plan. Unless a test makes another one, it has two chunks of one recording each.
type tasks struct {
	*night
	path string
	id   string
}

func newTasks(t *testing.T) *tasks {
	k := &tasks{night: newNight(t)}
	k.plan("2", filepath.Join(k.dir, "a.er"), filepath.Join(k.dir, "b.er"))
	return k
}

// plan makes the plan.
func (k *tasks) plan(chunks string, paths ...string) {
	k.t.Helper()
	k.path = filepath.Join(k.t.TempDir(), "a.plan")
	k.does(append([]string{"plan", "--store", k.store, "--chunks", chunks, "-o", k.path}, paths...)...)
	p, err := plan.Open(k.path)
	if err != nil {
		k.t.Fatal(err)
	}
	defer p.Close()
	k.id = p.ID
}

func (k *tasks) does(args ...string) {
	k.t.Helper()
	var stdout, stderr bytes.Buffer
	if code := run(args, strings.NewReader(""), &stdout, &stderr); code != 0 {
		k.t.Fatalf("%q: status %d\n%s", args, code, stderr.String())
	}
}

// task ingests a chunk, and returns the status of its recording and the stages that ran.
func (k *tasks) task(chunk int, store string) (status string, stages []string) {
	k.t.Helper()
	k.does("ingest", "--plan", k.path, "--store", store, "--cache", k.cache, "--chunk", strconv.Itoa(chunk))
	var r runner.Report
	text, err := os.ReadFile(plan.ReportPath(store, k.id, chunk))
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil || len(r.Inputs) != 1 {
		k.t.Fatalf("%+v, %v", r, err)
	}
	return r.Inputs[0].Status, slices.Sorted(maps.Keys(r.Inputs[0].StageSeconds))
}

// A task does not read recordings again that earlier runs of its chunk have stored, even if their
// batches were merged since.
func TestChunkAgain(t *testing.T) {
	k := newTasks(t)
	skips := func(when string) {
		t.Helper()
		if status, stages := k.task(0, k.store); status != "skipped" || !slices.Equal(stages, []string{"identify"}) {
			t.Errorf("%s: it is %s after %v", when, status, stages)
		}
	}
	for chunk := range 2 {
		if status, _ := k.task(chunk, k.store); status != "complete" {
			t.Errorf("chunk %d: %s", chunk, status)
		}
	}
	skips("again")
	marks := plan.MarksOf(k.store, k.id, 0)
	if err := marks.Add("bkilled"); err != nil {
		t.Fatal(err)
	}
	skips("after one that was killed before its commit")
	if err := os.Remove(filepath.Join(k.store, plan.Dir, k.id, "0", "bkilled")); err != nil {
		t.Fatal(err)
	}
	k.does("compact", "--store", k.store, "--keep", "0")
	batches, err := marks.Batches()
	if err != nil || len(batches) != 1 {
		t.Fatal(batches, err)
	}
	if _, err := storedir.ReadCommit(k.store, batches[0]); err == nil {
		t.Fatal("it was not merged")
	}
	skips("merged")
	k.does("check", "--store", k.store)
	k.does("plan", "status", k.path)
}

// If the files by which tasks mark finished batches are gone, a task reads its recordings again,
// and finds out only at the commit that the batch exists.
func TestChunkWithoutMarks(t *testing.T) {
	k := newTasks(t)
	k.task(0, k.store)
	if err := os.RemoveAll(filepath.Join(k.store, plan.Dir)); err != nil {
		t.Fatal(err)
	}
	if status, stages := k.task(0, k.store); status != "skipped" || len(stages) < 5 {
		t.Errorf("it is %s after %v", status, stages)
	}
}

// A task skips experiments that the plan's store has, but ingests them if it is given another
// store.
func TestChunkElsewhere(t *testing.T) {
	k := newTasks(t)
	k.does("ingest", "--store", k.store, "--cache", k.cache, filepath.Join(k.dir, "a.er"))
	again := filepath.Join(k.dir, "copy-of-a.er")
	if err := os.CopyFS(again, os.DirFS(filepath.Join(k.dir, "a.er"))); err != nil {
		t.Fatal(err)
	}
	k.plan("1", again)
	for store, want := range map[string]string{k.store: "skipped", filepath.Join(t.TempDir(), "other"): "complete"} {
		if status, _ := k.task(0, store); status != want {
			t.Errorf("store %s: it is %s, want %s", store, status, want)
		}
	}
}
