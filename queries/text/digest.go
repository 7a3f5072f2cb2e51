//go:build cgo

package text

import (
	"fmt"
	"math"
	"strings"

	"stackmill/internal/terminal"
	"stackmill/queries/compare"
	"stackmill/queries/digest"
	"stackmill/queries/rank"
)

// Limits of a digest as text.
const (
	digestFunctions = 3 // functions of a finding
	digestPrograms  = 5 // programs of changes that many series have in common
	digestShort     = 5 // findings that are printed in one line each
)

// Digest prints a digest, which takes about a page at most.
func Digest(out *terminal.Output, d *digest.Result, markdown bool) error {
	p := &digestPage{Page: out.Page(), Result: d, markdown: markdown}
	p.head()
	told := 0
	for _, part := range []struct {
		title string
		list  []*digest.Finding
	}{{"Sure", d.Sure}, {"Maybe: more nights will tell", d.Maybe}} {
		if len(part.list) == 0 {
			continue
		}
		p.title(part.title)
		told = p.list(part.list, told)
	}
	p.common()
	p.rest()
	return p.Flush()
}

// list prints findings: as many in full as the request allows, and some more in one line each. told is
// the number of findings that are already printed; list returns the new number.
func (p *digestPage) list(findings []*digest.Finding, told int) int {
	short := 0
	for i, f := range findings {
		switch {
		case p.Limit == 0 || told < p.Limit:
			told++
			p.finding(told, f)
		case short < digestShort:
			short++
			told++
			c := &f.Changes[0]
			p.Printf("%d. %s: %s, since %s\n", told, p.strong(f.Program), f.Headline(), f.Nights[c.From].Name)
		default:
			p.Printf("   and %d more (--limit 0 tells all)\n\n", len(findings)-i)
			return told
		}
	}
	if short > 0 {
		p.Printf("\n")
	}
	return told
}

// digestPage prints a digest.
type digestPage struct {
	*terminal.Page
	*digest.Result
	markdown bool
}

func (p *digestPage) title(text string) {
	if p.markdown {
		p.Printf("### %s\n\n", text)
	} else {
		p.Printf("%s\n\n", strings.ToUpper(text))
	}
}

func (p *digestPage) bullet() string {
	if p.markdown {
		return "* "
	}
	return "   "
}

// further returns the start of a further line of a bullet.
func (p *digestPage) further() string {
	if p.markdown {
		return "  * "
	}
	return "     "
}

// item returns the start of the line of an item of a named list. Tables name the list before its
// first item, and align all items. In Markdown, the blanks for that would make the item code.
func (p *digestPage) item(i int, name string) string {
	switch {
	case p.markdown:
		return "* " + name
	case i > 0:
		name = ""
	}
	return fmt.Sprintf("   %-8s", name)
}

// plain returns a text without markup.
func (p *digestPage) plain(text string) string {
	if p.markdown {
		return terminal.Markdown(text)
	}
	return terminal.Printable(text)
}

// code formats a name or command: as code in Markdown, otherwise as text.
func (p *digestPage) code(text string) string {
	text = terminal.Printable(text)
	if p.markdown {
		return "`" + strings.ReplaceAll(text, "`", "'") + "`"
	}
	return text
}

// head prints a sentence with the outcome, and the experiments and nights of the digest.
func (p *digestPage) head() {
	if p.markdown {
		p.Printf("## %s\n\n", strings.TrimSuffix(p.Sentence(), "."))
	} else {
		p.Printf("%s\n", p.Sentence())
	}
	nights := "no night"
	if p.First != "" {
		nights = "nights " + p.First + " to " + p.Last + p.OlderNights()
	}
	p.Printf("%s, %s, %s mode\n\n", Plural(p.Experiments, "experiment"), nights, p.Mode)
}

// finding prints a series with its changes.
func (p *digestPage) finding(n int, f *digest.Finding) {
	c := &f.Changes[0]
	p.Printf("%d. %s: %s\n", n, p.strong(f.Program), f.Headline())
	if name := f.Series.Name; name != f.Program {
		p.Printf("%s %s\n", p.item(0, "series"), p.code(name))
	}
	p.Printf("%s %s, last good %s (%s; the series varies by %s from night to night)\n", p.item(0, "since"), f.Nights[c.From].Name, f.Nights[c.From-1].Name, Plural(c.Newest, "night"), percentOf(f.Noise))
	for i := range f.Changes {
		if i == digestFunctions {
			p.Printf("%s %s\n", p.item(i, "in"), Plural(len(f.Changes)-i, "more function"))
			break
		}
		p.Printf("%s %s\n", p.item(i, "in"), p.change(f, &f.Changes[i]))
	}
	if f.Details == nil {
		p.Printf("\n")
		return
	}
	p.details(f)
	p.Printf("\n")
}

// change describes the change of a function.
func (p *digestPage) change(f *digest.Finding, c *digest.Change) string {
	text := fmt.Sprintf("%s: %s, %s", p.code(c.Name), c.Kind(), p.size(c))
	if c.State == rank.Maybe {
		text += ", maybe"
	}
	if night := f.Nights[c.From].Name; night != f.Nights[f.Changes[0].From].Name {
		text += " since " + night
	}
	return text
}

// size describes how large a change is, with its interval.
func (p *digestPage) size(c *digest.Change) string {
	if math.IsInf(c.Ratio, 0) || math.IsNaN(c.Low) {
		return fmt.Sprintf("%+.1f %% of the whole", 100*c.Impact)
	}
	return fmt.Sprintf("%s (%s to %s)", percentChange(c.Ratio), percentChange(c.Low), percentChange(c.High))
}

func percentOf(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) }

func (p *digestPage) strong(text string) string {
	if p.markdown {
		return "**" + p.plain(text) + "**"
	}
	return p.plain(text)
}

// details prints where a change is, what may explain it, and what to run next.
func (p *digestPage) details(f *digest.Finding) {
	for i, c := range f.Carriers {
		p.Printf("%s %s %s, %+.1f %% of the whole\n", p.item(i, "carried"), c.By, p.code(c.Name), 100*c.Change)
	}
	for i, d := range f.Differences {
		p.Printf("%s %s: %s -> %s\n", p.item(i, "differs"), p.plain(d.What), p.code(compare.Few(d.Before)), p.code(compare.Few(d.After)))
	}
	for _, d := range f.Environment {
		if d.Unfair {
			p.Printf("%s %s: %s -> %s\n", p.item(0, "unfair"), p.plain(d.What), p.code(compare.Few(d.Base)), p.code(compare.Few(d.Test)))
		}
	}
	if f.MoreNights > 0 {
		p.Printf("%s %s like the newest would make it sure (%s)\n", p.item(0, "open"), Plural(f.MoreNights, "more night"), Plural(f.MoreRuns, "run"))
	}
	if len(f.Between) > 0 {
		p.Printf("%s %s (builds between the nights, in bisection order)\n", p.item(0, "try"), p.code(compare.Few(f.Between)))
	}
	for i, c := range f.Commands {
		p.Printf("%s %s\n", p.item(i, "next"), p.code(c))
	}
}

// common prints the changes that many series have in common.
func (p *digestPage) common() {
	if len(p.Common)+len(p.Together) == 0 {
		return
	}
	p.title("Common to many programs")
	for _, c := range p.Common {
		host := ""
		if c.Host != "" {
			host = " on " + p.plain(c.Host)
		}
		p.Printf("%sall %s%s: %s since %s (%s; it is left out of the changes above)\n", p.bullet(), Plural(c.Series, "program"), host, percentChange(c.After/c.Before), c.From.Name, c.State)
	}
	for _, t := range p.Together {
		p.Printf("%s%d of %s changed since %s%s, in the median by %s of their whole\n", p.bullet(), t.Series, Plural(t.Of, "program"), t.Night.Name, t.AndPerhaps(), percentChange(t.Middle))
		var names []string
		for _, f := range t.Most[:min(digestPrograms, len(t.Most))] {
			names = append(names, p.plain(f.Program+" ("+f.SharedSince(t.Night)[0].Name+")"))
		}
		p.Printf("%smost: %s\n", p.further(), strings.Join(names, ", "))
		for _, d := range t.Differences {
			p.Printf("%sdiffers in %s: %s: %s -> %s\n", p.further(), p.plain(t.Most[0].Program), p.plain(d.What), p.code(compare.Few(d.Before)), p.code(compare.Few(d.After)))
		}
	}
	p.Printf("\n")
}

// rest prints how many findings and series are not shown.
func (p *digestPage) rest() {
	p.Printf("%s as usual, too few nights: %d. From night to night, programs vary by %s in the median, at most by %s.\n",
		Plural(p.Quiet, "program"), p.Short, percentOf(p.Noise[0]), percentOf(p.Noise[1]))
	for _, w := range p.Warnings {
		if p.markdown {
			p.Printf("\n") // a paragraph
		}
		p.Printf("warning: %s\n", p.plain(w))
	}
}
