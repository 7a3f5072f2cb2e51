package digest

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"stackmill/queries"
	"stackmill/queries/rank"
	"stackmill/queries/storetest"
)

var batchLine = regexp.MustCompile(`batch [0-9a-f]{16} night-([0-9]+)\.er /data/night-[0-9]+\.er`)

// fleet describes a store with nights of several programs. of returns their values in ms.
func fleet(programs []string, of func(program string, night int) map[string]int, nights int) string {
	var b strings.Builder
	for i, p := range programs {
		var values []map[string]int
		for n := range nights {
			values = append(values, of(p, n))
		}
		text := batchLine.ReplaceAllString(storetest.Nights(values), fmt.Sprintf("batch %08x000000$1 %s-$1.er /data/%s-$1.er", i+1, p, p))
		text = strings.ReplaceAll(text, "  night-", "  "+p+"-")
		b.WriteString(strings.ReplaceAll(text, " box app ", " box "+p+" "))
	}
	return b.String()
}

func run(t *testing.T, text string, change func(*Request)) *Result {
	t.Helper()
	db, err := queries.OpenWith(t.Context(), storetest.New(t, text), queries.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	r := Defaults()
	if change != nil {
		change(&r)
	}
	if err := r.Check(); err != nil {
		t.Fatal(err)
	}
	d, err := Run(t.Context(), db, r)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// told returns the reported changes of findings as texts.
func told(list []*Finding) (texts []string) {
	for _, f := range list {
		for _, c := range f.Changes {
			texts = append(texts, fmt.Sprintf("%s %s %s since %s", f.Program, c.Name, c.Kind(), f.Nights[c.From].Name))
		}
	}
	return texts
}

// TestDigest checks that a digest reports all changes and nothing else, wherever they are: in the
// whole program, in a function alone, from or to nothing, or on the last night.
func TestDigest(t *testing.T) {
	const nights = 30
	text := fleet([]string{"grower", "mover", "quiet", "tonight"}, func(p string, n int) map[string]int {
		values := map[string]int{"main": 500 + n*7%11, "work": 300 + n*5%13}
		switch {
		case p == "grower" && n >= 26:
			values["work"] += 60
		case p == "mover" && n >= 27:
			values["main"], values["fresh"] = values["main"]-50, 50
		case p == "tonight" && n == nights-1:
			values["main"] += 100
		}
		return values
	}, nights)
	d := run(t, text, nil)
	if got, want := told(d.Sure), []string{
		"grower work slower since 2026-01-27", "grower <Total> slower since 2026-01-27",
		"mover fresh appeared since 2026-01-28", "mover main faster since 2026-01-28",
	}; !sameSet(got, want) {
		t.Errorf("sure: %q", got)
	}
	if got, want := told(d.Maybe), []string{"tonight main slower since 2026-01-30", "tonight <Total> slower since 2026-01-30"}; !sameSet(got, want) {
		t.Errorf("maybe: %q", got)
	}
	if d.Quiet != 1 || d.Short != 0 || d.First != "2026-01-01" || d.Last != "2026-01-30" || d.SinceNight != "2026-01-23" || d.Experiments != 4*nights || len(d.Warnings)+len(d.Common)+len(d.Together) > 0 {
		t.Errorf("%+v", d)
	}
	first := d.Sure[0]
	if first.Program != "grower" || first.LastGood.Name != "2026-01-26" || first.FirstBad.Name != "2026-01-27" || len(first.Commands) != 2 ||
		!strings.Contains(first.Commands[0], "--base started=2026-01-26,target=grower --test started=2026-01-27,target=grower") {
		t.Errorf("%+v", first.Details)
	}
	if more := d.Maybe[0].MoreNights; more != 1 {
		t.Errorf("%d more nights for a verdict", more)
	}
	if !json.Valid(must(json.Marshal(d.Object()))) {
		t.Error("no JSON")
	}
	if future := run(t, text, func(r *Request) { r.Since = "2099-01-01" }); len(future.Warnings) != 1 || !strings.Contains(future.Warnings[0], "no night since 2099-01-01: the newest one is 2026-01-30") {
		t.Errorf("warnings of the future: %q", future.Warnings)
	}
	if later := run(t, text, func(r *Request) { r.Since = "2026-01-28" }); !slices.Equal(told(later.Sure), told(d.Sure[1:])) {
		t.Errorf("since a date: %q", told(later.Sure))
	}
}

func must(text []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return text
}

func sameSet(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// TestSeries checks that experiments of different programs, events or kinds of machines are in
// different series, and so are experiments with different values of a label that the user names.
func TestSeries(t *testing.T) {
	text := fleet([]string{"one", "two"}, func(p string, n int) map[string]int { return map[string]int{"main": 500 + n*7%11} }, 12)
	if d := run(t, text, nil); d.Quiet != 2 {
		t.Errorf("%+v", d)
	}
	if d := run(t, text, func(r *Request) { r.Series = []string{"events"} }); d.Quiet != 1 {
		t.Errorf("%+v", d)
	}
}

// values returns nights of a series: the level, with relative noise.
func values(random *rand.Rand, nights int, level, noise float64) (v []float64) {
	for range nights {
		v = append(v, level*math.Exp(noise*random.NormFloat64()))
	}
	return v
}

// line makes a series of a program with functions a and b of equal size on a host.
func line(random *rand.Rand, program, host string, nights int) *Series {
	s := &Series{Name: program, Program: program, Metric: "m"}
	a, b := values(random, nights, 100, 0.01), values(random, nights, 100, 0.01)
	total := make([]float64, nights)
	for n := range nights {
		total[n] = a[n] + b[n]
		s.Nights = append(s.Nights, Night{Name: fmt.Sprint(n), At: n, Runs: 1})
		s.Groups = append(s.Groups, Group{Night: n, Host: host, Runs: 1})
	}
	s.Items = []Function{{Name: "<Total>", Values: total}, {Key: 1, Name: "a", Values: a}, {Key: 2, Name: "b", Values: b}}
	return s
}

// scale multiplies the values of a function, and adds the difference to <Total>.
func (s *Series) scale(item, from, to int, by float64) {
	for n := from; n < to; n++ {
		s.Items[0].Values[n] += s.Items[item].Values[n] * (by - 1)
		s.Items[item].Values[n] *= by
	}
}

// TestSlowWeek checks that a week in which a machine is slow is reported once and hides no
// regression.
func TestSlowWeek(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	var all []*Series
	for p := range 20 {
		s := line(random, fmt.Sprintf("p%02d", p), "box", 60)
		for i := range s.Items {
			for n := 50; n < 57; n++ {
				s.Items[i].Values[n] *= 1.08
			}
		}
		all = append(all, s)
	}
	all[7].scale(2, 53, 60, 1.05)
	verdicts, common := Judge(all, Options{Since: 45, MinShare: 0.01, Chance: chance, FDR: 0.05})
	for _, v := range verdicts {
		if v.Program != "p07" && v.State == rank.Sure || v.Program == "p07" && (v.State != rank.Sure || v.Changes[0].Name != "b" || v.Nights[v.Changes[0].From].At != 53) {
			t.Errorf("%s: %s %+v", v.Program, v.State, v.Changes)
		}
	}
	if len(common) != 2 || common[0].From.At != 50 || common[1].From.At != 57 || math.Abs(common[0].After/common[0].Before-1.08) > 0.01 {
		t.Errorf("%+v", common)
	}
}

// TestTogether checks that programs that changed on the same night, for example because of another
// compiler, are reported together, and that a program that changed on another night is reported
// alone.
func TestTogether(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	var all []*Series
	for p := range 20 {
		s := line(random, fmt.Sprintf("p%02d", p), "box", 60)
		if p < 12 {
			s.scale(1, 52, 60, 1+0.2*float64(p%2*2-1))
		}
		all = append(all, s)
	}
	all[19].scale(2, 56, 60, 1.1)
	verdicts, _ := Judge(all, Options{Since: 50, MinShare: 0.01, Chance: chance, FDR: 0.05})
	list := together(verdicts)
	if len(list) != 1 || list[0].Series != 12 || list[0].Of != 20 || list[0].Night.At != 52 || len(list[0].Most) != 12 {
		t.Errorf("%+v", list)
	}
	for _, v := range verdicts {
		if v.State == rank.Sure != (v.Program == "p19") {
			t.Errorf("%s: %s %+v", v.Program, v.State, v.Changes)
		}
	}
}

func TestBisected(t *testing.T) {
	if got := bisected([]string{"1", "2", "3", "4", "5", "6", "7"}); !slices.Equal(got, []string{"4", "2", "6", "1", "3", "5", "7"}) {
		t.Errorf("%q", got)
	}
}

// TestFromNothing checks that the numbers of a digest are finite, as JSON requires, even if a program
// had no value before it changed, such as a program without leaks.
func TestFromNothing(t *testing.T) {
	const nights = 24
	for _, programs := range [][]string{{"still"}, {"still", "other", "third", "fourth", "fifth"}} {
		text := fleet(append(programs, "quiet"), func(p string, n int) map[string]int {
			values := map[string]int{"work": 300 + n*5%13}
			if p != "quiet" && n < 20 {
				values["work"] = 0
			}
			return values
		}, nights)
		d := run(t, text, func(r *Request) { r.Limit = 0 })
		if len(d.Sure) != len(programs) {
			t.Fatalf("sure: %q", told(d.Sure))
		}
		for _, f := range d.Sure {
			if impact := f.Changes[0].Impact; f.Headline() != "appeared, 0 before" || math.Abs(impact-1) > 0.05 {
				t.Errorf("%s, %v of the whole", f.Headline(), impact)
			}
			for _, c := range f.Carriers {
				if math.Abs(c.Change-1) > 0.05 {
					t.Errorf("%+v", c)
				}
			}
		}
		if _, err := json.Marshal(d.Object()); err != nil {
			t.Error(err)
		}
	}
}

// TestToNothing checks that the interval of a function that vanished contains its ratio and is not
// below 0.
func TestToNothing(t *testing.T) {
	d := run(t, fleet([]string{"still"}, func(_ string, n int) map[string]int {
		if n >= 20 {
			return map[string]int{"main": 100 + n*7%11}
		}
		return map[string]int{"main": 100 + n*7%11, "work": 300 + n*5%13}
	}, 24), nil)
	for _, c := range d.Sure[0].Changes {
		if c.Low < 0 || c.Low > c.Ratio || c.High < c.Ratio {
			t.Errorf("%s: %v (%v to %v)", c.Name, c.Ratio, c.Low, c.High)
		}
	}
}

// TestMistakes checks that a request for a metric or label that no experiment has is an error, not a
// digest in which nothing changed.
func TestMistakes(t *testing.T) {
	db, err := queries.OpenWith(t.Context(), storetest.New(t, storetest.Nights([]map[string]int{{"work": 1}, {"work": 1}})), queries.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for want, change := range map[string]func(*Request){
		`no metric "x"`:                           func(r *Request) { r.Metric = "x" },
		"--order: no experiment has the label x":  func(r *Request) { r.Order = "label=x" },
		"--series: no experiment has the label x": func(r *Request) { r.Series = []string{"program", "label=x"} },
	} {
		r := Defaults()
		change(&r)
		if _, err := Run(t.Context(), db, r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	r := Defaults()
	r.Order = "status" // a column that the view series lacks
	if d, err := Run(t.Context(), db, r); err != nil || d.Last != "complete" {
		t.Errorf("%+v: %v", d, err)
	}
}

// TestUsualSince checks that the usual level after a change that is too old to be reported is the new
// level.
func TestUsualSince(t *testing.T) {
	db, err := queries.OpenWith(t.Context(), storetest.New(t, fleet([]string{"still"}, func(_ string, n int) map[string]int {
		values := map[string]int{"main": 500 + n*7%11}
		if n >= 12 {
			values["main"] += 100
		}
		return values
	}, 24)), queries.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	r := Defaults()
	r.Since = "3d"
	o, err := Overview(t.Context(), db, r)
	if err != nil {
		t.Fatal(err)
	}
	p := o.(overviewJSON).Programs[0]
	if p.State != "" || p.Usual < 600e6 || *p.Ratio > 1.02 || *p.High > 1.05 {
		t.Errorf("%+v, ratio %v (%v to %v)", p, *p.Ratio, *p.Low, *p.High)
	}
}

// The commands select only the runs of the finding, whatever distinguishes series.
func TestCommandsOfMixture(t *testing.T) {
	text := fleet([]string{"app", "other"}, func(p string, n int) map[string]int {
		values := map[string]int{"work": 300 + n*5%13}
		if n >= 18 {
			values["work"] += 100
		}
		return values
	}, 24)
	byProgram := regexp.MustCompile(`^stackmill compare( --base started=[0-9-]+,target=(app|other)){3}( --test started=[0-9-]+,target=(app|other)){3}$`)
	byOneID := regexp.MustCompile(`^stackmill compare( --base [0-9a-f]{16}){3}( --test [0-9a-f]{16}){3}$`)
	byID := regexp.MustCompile(`^stackmill compare( --base [0-9a-f]{16}){6}( --test [0-9a-f]{16}){6}$`)
	for _, x := range []struct {
		series   string
		findings int
		commands int
		want     *regexp.Regexp
	}{{"program", 2, 2, byProgram}, {"host", 1, 1, byID}} {
		d := run(t, text, func(r *Request) { r.Series = []string{x.series} })
		if len(d.Sure) != x.findings {
			t.Fatalf("%s: %q", x.series, told(d.Sure))
		}
		if c := d.Sure[0].Commands; len(c) != x.commands || !x.want.MatchString(c[0]) {
			t.Errorf("%s: %q", x.series, c)
		}
	}
	for want, selected := range map[string][]string{
		"--base started=2026-01-18,target=app,branch=main --test started=2026-01-19,target=app,branch=main": {"branch=main"},
		"": {"branch=main", "branch=next"},
	} {
		d := run(t, text, func(r *Request) { r.Series, r.Selected = []string{"program"}, selected })
		if c := d.Sure[0].Commands; want == "" && !byOneID.MatchString(c[0]) || !strings.Contains(strings.ReplaceAll(c[0], "target=other", "target=app"), want) {
			t.Errorf("%q: %q", selected, c)
		}
	}
}

// An overview with a series of too few nights is valid JSON.
func TestOverviewOfFewNights(t *testing.T) {
	text := fleet([]string{"long", "fresh"}, func(p string, n int) map[string]int { return map[string]int{"main": 500 + n*7%11} }, 12)
	batches := strings.Split(text, "batch ")
	text = strings.Join(append(batches[:13:13], batches[22:]...), "batch ") // fresh has the last three nights
	db, err := queries.OpenWith(t.Context(), storetest.New(t, text), queries.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	o, err := Overview(t.Context(), db, Defaults())
	if err != nil {
		t.Fatal(err)
	}
	if out, err := json.Marshal(o); err != nil || !strings.Contains(string(out), `"few":true`) {
		t.Errorf("%v: %s", err, out)
	}
}

// A program that recorded nothing is as usual, and one that did not run in the last night is named.
func TestNothingRecorded(t *testing.T) {
	text := fleet([]string{"idle", "gone", "runs"}, func(p string, n int) map[string]int {
		if p == "idle" {
			return map[string]int{}
		}
		return map[string]int{"main": 500 + n*7%11}
	}, 12)
	batches := strings.Split(text, "batch ")
	text = strings.Join(append(batches[:23:23], batches[25:]...), "batch ") // gone has no runs in the last two nights
	d := run(t, text, func(r *Request) { r.Nights = 11 })
	if d.Quiet != 3 || d.Older != 1 {
		t.Errorf("%d as usual, %d older nights", d.Quiet, d.Older)
	}
	if want := []string{"1 of 3 series have no experiment of the last night, 2026-01-12: gone"}; !slices.Equal(d.Warnings, want) {
		t.Errorf("%q", d.Warnings)
	}
}

// Series of several columns are named by these, so that their values cannot be confused.
func TestNamesOfSeries(t *testing.T) {
	text := fleet([]string{"one"}, func(string, int) map[string]int { return map[string]int{"main": 500} }, 12)
	d := run(t, text, func(r *Request) { r.Series = []string{"program", "host"} })
	if got := d.Verdicts[0].Series.Name; got != "program=one, host=box" {
		t.Error(got)
	}
}

// Functions of one name are added up if one of them can be distinguished only within its build.
func TestMergeNamesakes(t *testing.T) {
	s := &Series{Items: []Function{
		{Name: "<Total>", Values: []float64{9, 9}},
		{Name: "helper", Object: "p", Module: "/b/1/util.c", Key: 1, Values: []float64{3, 0}},
		{Name: "other", Object: "p", Module: "/b/1/util.c", Key: 2, Values: []float64{4, 5}},
		{Name: "helper", Object: "p", Module: "/b/2/util.c", Key: 3, Values: []float64{0, 3}, onlyInBuild: true},
		{Name: "helper", Object: "q", Module: "/b/2/util.c", Key: 4, Values: []float64{1, 1}},
	}}
	s.mergeNamesakes()
	var got []string
	for _, f := range s.Items {
		got = append(got, fmt.Sprint(f.Name, f.Object, f.Values))
	}
	if want := []string{"<Total>[9 9]", "helperp[3 3]", "otherp[4 5]", "helperq[1 1]"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// Each night that many series share names the function that changed in that night, and counts the
// series that may have changed.
func TestTwoSharedNights(t *testing.T) {
	var verdicts []*Verdict
	nights := []Night{{Name: "0", At: 0}, {Name: "1", At: 1}, {Name: "2", At: 2}}
	for i := range 8 {
		v := &Verdict{Series: &Series{Nights: nights, Items: []Function{{nights: []float64{1, 2, 3}}}}, State: rank.Sure}
		for from, name := range []string{1: "first", 2: "second"} {
			if name != "" && i < 7 {
				v.Changes = append(v.Changes, Change{Function: &Function{Name: name}, State: rank.Sure, From: from})
			}
		}
		if i == 7 {
			v.State, v.Changes = rank.Maybe, []Change{{Function: &Function{Name: "second"}, State: rank.Maybe, From: 2}}
		}
		verdicts = append(verdicts, v)
	}
	list := together(verdicts)
	if len(list) != 2 {
		t.Fatalf("%+v", list)
	}
	for i, want := range []string{"first 7 0", "second 7 1"} {
		t1 := list[i]
		if got := fmt.Sprint(t1.Most[0].SharedSince(t1.Night)[0].Name, " ", t1.Series, " ", t1.Perhaps); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
