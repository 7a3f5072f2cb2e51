package page

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"stackmill/cmd/acceptance/suite"
	"stackmill/pipeline"
	"stackmill/schema"
	"stackmill/stages/decode/gprofng/gprofngtest"
)

// nightlyStore ingests thirty nights of six programs: ingestd is slower since 27 January, archive
// faster, importer took longer in the last night, and fresh is recorded only since 28 January.
func nightlyStore(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	var paths []string
	for n := range 30 {
		for i, program := range []string{"ingestd", "archive", "importer", "report", "history", "fresh"} {
			values := map[string]int{"validate": 40 + (n*5+i)%3, "parse": 100 + (n*7+i)%5, "hash": 60 + (n*3+i)%4}
			switch {
			case program == "ingestd" && n >= 26:
				values["validate"] += 25
			case program == "archive" && n >= 24:
				values["hash"] -= 30
			case program == "importer" && n == 29:
				values["parse"] += 20
			case program == "fresh" && n < 27:
				continue
			}
			path := filepath.Join(dir, fmt.Sprintf("%s-%02d.er", program, n))
			if err := recordNight(path, program, n, values); err != nil {
				t.Fatal(err)
			}
			paths = append(paths, path)
		}
	}
	store := filepath.Join(dir, "store")
	if _, err := suite.Ingest(pipeline.Options{Store: store}, paths...); err != nil {
		t.Fatal(err)
	}
	return store
}

// recordNight makes the recording of a program's night. samples has the number of samples, of 10 ms
// each, of each function.
func recordNight(path, program string, night int, samples map[string]int) error {
	e := gprofngtest.New(path)
	e.Host, e.Command = "web7", "/opt/app/bin/"+program
	e.Wall = time.Date(2026, 1, 1+night, 2, 0, 0, 0, time.UTC).Unix()
	e.Declare(schema.Clock, `ptimer="1000" numstates="1"`)
	at := int64(night)
	for i, name := range []string{"validate", "parse", "hash"} {
		start := uint64(0x1000 + 0x100*i)
		e.Function(0, start, 0x100, name)
		stack := e.Frame(start + 4)
		for range samples[name] {
			e.Events(schema.Clock).Put(0, &gprofngtest.Layouts[schema.Clock][0], gprofngtest.Packet{Thread: 1, Time: at, Stack: stack, Values: []int64{10, 1}})
			at += 1e6
		}
	}
	return e.Close()
}

// TestWhatChanged checks that the start page shows which programs changed, since when and in which
// function, without a click.
func TestWhatChanged(t *testing.T) {
	axe, err := os.ReadFile("testdata/node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Skip("no axe-core: run npm ci in cmd/acceptance/page/testdata")
	}
	store := nightlyStore(t)
	for _, of := range []struct {
		name          string
		width, height int64
		dark          bool
	}{{"desktop", 1280, 850, false}, {"wide_dark", 1920, 1000, true}, {"phone", 390, 844, false}} {
		t.Run(of.name, func(t *testing.T) {
			b := open(t, of.width, of.height, of.dark)
			b.site = served(t, store, nil).address
			b.visit("")
			b.run(poll(`document.querySelectorAll('.programs tbody tr').length >= 7`))
			b.wholePicture("changes")
			rows := eval[[]string](b, `[...document.querySelectorAll('.programs tbody tr:not(.details)')].map((r) =>
				[r.querySelector('button.program').textContent, r.querySelector('.verdict').textContent, r.querySelector('.named')?.textContent ?? ''].join('|'))`)
			want := []string{
				"ingestd|▲slower since 27 Jan|validate", "importer|?maybe slower|parse", "archive|▼faster since 25 Jan|hash",
				"history|=as usual|", "report|=as usual|", "fresh|○too few nights|",
			}
			if diff := cmp.Diff(want, rows); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			details := eval[string](b, `document.querySelector('.details').innerText`)
			if !strings.Contains(details, "validate") || !strings.Contains(details, "on 27 Jan") || !strings.Contains(details, "What carries the change") {
				t.Errorf("the details of the first program: %s", details)
			}
			if wider := eval[int](b, `document.documentElement.scrollWidth - innerWidth`); wider > 0 {
				t.Errorf("the page is %d pixels wider than the window", wider)
			}
			b.audit("changes", string(axe))
		})
	}
}

// TestComparisonOfChange checks that the button compares all nights since the change with those before it.
func TestComparisonOfChange(t *testing.T) {
	b := open(t, 1280, 850, false)
	b.site = served(t, nightlyStore(t), nil).address
	b.visit("")
	b.run(poll(`document.querySelector('.actions .pri') !== null`))
	if text := eval[string](b, `document.querySelector('.actions .pri').innerText`); text != "Compare 26 with 4 nights" {
		t.Errorf("the button says %q", text)
	}
	b.run(chromedp.Click(".actions .pri", chromedp.ByQuery), poll(`document.body.innerText.includes('validate')`))
	query := eval[map[string]string](b, `Object.fromEntries(new URLSearchParams(location.search))`)
	if query["base"] != "started=2026-01-01..2026-01-26,target=ingestd" || query["experiment"] != "started=2026-01-27..2026-01-30,target=ingestd" {
		t.Errorf("the address is %s", query)
	}
	b.run(poll(`document.querySelector('main').innerText.includes('slower')`))
}
