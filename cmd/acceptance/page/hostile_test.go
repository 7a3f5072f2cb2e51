package page

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"stackmill/cmd/acceptance/suite"
	"stackmill/pipeline"
)

// hostile is a name that runs a script if it is taken for markup.
const hostile = `</script><img src=x onerror="window.hacked=1"><script>window.hacked=1</script>'";alert(1)//${window.hacked=1}`

// writeHostile writes a profile all of whose names are hostile, its own, too.
func writeHostile(t *testing.T, dir string) string {
	t.Helper()
	m := &profile.Mapping{ID: 1, Start: 0x1000, Limit: 0x9000, File: "/" + hostile, BuildID: "../../" + hostile, HasFunctions: true}
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "cpu", Unit: "nanoseconds"}}, Mapping: []*profile.Mapping{m}, Comments: []string{hostile},
		TimeNanos: 1_700_000_000_000_000_000, DurationNanos: 2_000_000_000, PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 1_000_000,
	}
	var stack []*profile.Location
	for i := range 4 {
		f := &profile.Function{ID: uint64(i + 1), Name: fmt.Sprintf("%d%s", i, hostile), SystemName: hostile, Filename: "/etc/../" + hostile}
		l := &profile.Location{ID: uint64(i + 1), Mapping: m, Address: uint64(0x1000 + i), Line: []profile.Line{{Function: f, Line: int64(i + 1)}}}
		p.Function, p.Location = append(p.Function, f), append(p.Location, l)
		stack = append([]*profile.Location{l}, stack...)
	}
	for i := range stack {
		p.Sample = append(p.Sample, &profile.Sample{Location: stack[i:], Value: []int64{int64(i+1) * 10_000_000}, Label: map[string][]string{hostile: {hostile}}})
	}
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, strings.ReplaceAll(hostile, "/", "_")+".pb.gz")
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// Names with markup and scripts are text in every panel, and in the viewers.
func TestHostileNames(t *testing.T) {
	dir := t.TempDir()
	db, err := suite.Open(pipeline.Options{Store: filepath.Join(dir, "store"), Labels: func(string) map[string]string { return map[string]string{"night": hostile} }}, writeHostile(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	b := open(t, 1280, 850, false)
	b.site = served(t, db.Store, nil).address
	function := url.QueryEscape("2" + hostile)
	object := url.QueryEscape(hostile)
	places := []string{
		"", "?view=experiments", "?view=flame", "?view=flame&side=inverted&search=" + object, "?view=flame&side=sandwich&of=" + function, "?view=functions", "?view=functions&inline=true&mode=expert",
		"?view=graph&function=" + function, "?view=source&function=" + function, "?view=disasm&function=" + function, "?view=timeline", "?view=heatmap", "?view=trend&function=" + function,
		"?view=objects", "?view=compare&base=%2A&experiment=%2A", "?view=unknown", "?view=" + object, "?view=flame&experiment=" + object, "?view=functions&metric=" + object, "?view=flame&where=" + object, "?view=flame&zoom=" + object,
		sqlPlace("SELECT function, experiment, '" + strings.ReplaceAll(hostile, "'", "''") + "' AS x, function AS \"" + strings.ReplaceAll(hostile, `"`, `""`) + "\" FROM function_metrics"),
		sqlPlace("SELECT stack, value FROM folded", "show", "flame"), sqlPlace("SELECT function, exclusive FROM function_metrics WHERE mode = 'user'", "show", "chart", "x", "function"),
		sqlPlace("SELECT error('" + strings.ReplaceAll(hostile, "'", "''") + "')"), sqlPlace(hostile),
	}
	shown := 0
	for _, place := range places {
		b.visit(place)
		if got := eval[string](b, `String(window.hacked) + document.querySelectorAll('main img, main script, main [onerror]').length`); got != "undefined0" {
			t.Errorf("%s: %s", place, got)
		}
		if strings.Contains(eval[string](b, `document.querySelector('main').innerText`), hostile) {
			shown++
		}
	}
	if shown < 8 {
		t.Errorf("%d panels show the names", shown)
	}
	refused := func(w string) bool { return strings.Contains(w, "the server responded with a status of 4") }
	b.forgive(refused)

	for _, page := range []string{"flamegraph", "top", "peek?f=2"} {
		b.run(navigate(b.site + "/pprof/mode=user/" + page))
		if got := eval[string](b, `String(window.hacked) + document.querySelectorAll('img').length + window.origin`); got != "undefined0null" {
			t.Errorf("pprof's %s: %s", page, got)
		}
		if text := eval[string](b, `document.documentElement.outerHTML`); !strings.Contains(text, "window.hacked=1") {
			t.Errorf("pprof's %s does not show the names", page)
		}
		// Even a script in the page could not use this server's API.
		if got := eval[string](b, `fetch('/api/v1/experiments').then(() => 'answered', () => 'refused')`); got != "refused" {
			t.Errorf("a script in pprof's %s is %s", page, got)
		}
	}
	b.forgive(func(w string) bool {
		return strings.Contains(w, "Content Security Policy") && strings.Contains(w, "/api/v1/experiments")
	})
	b.run(navigate(b.site + "/speedscope#profileURL=" + url.QueryEscape("/api/v1/export?as=speedscope")))
	b.run(poll(`document.title.includes('<img')`))
	if got := eval[string](b, `String(window.hacked) + document.querySelectorAll('img').length`); got != "undefined0" {
		t.Errorf("speedscope: %s", got)
	}
	b.forgive(func(w string) bool { return strings.Contains(w, "GL Driver Message") })
}
