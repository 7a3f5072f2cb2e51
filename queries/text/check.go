//go:build cgo

package text

import (
	"strings"

	"stackmill/internal/terminal"
	"stackmill/queries"
)

// Check prints the result of a check.
func Check(out *terminal.Output, p *queries.CheckReport) error {
	line := func(finding queries.Finding) string { return strings.ReplaceAll(finding.String(), "\n", " ") }
	w := out.Page()
	w.Printf("%s in %s, %d files: %d rows in %d bytes are as committed\n", Plural(p.Experiments, "experiment"), Plural(p.Batches, "batch"), p.Files, p.Rows, p.Bytes)
	if n := p.LeftOut; n.Batches > 0 {
		w.Printf("%s in %s, committed earlier, were not verified, but their files exist\n", Plural(n.Experiments, "experiment"), Plural(n.Batches, "batch"))
	}
	if p.Invariants > 0 {
		w.Printf("%d keys and %d invariants of the views were checked\n", p.Keys, p.Invariants)
	} else {
		w.Printf("the views were not checked\n")
	}
	if len(p.Doubted) > 0 {
		w.Printf("%s verified by SQL instead (%s)\n", Plural(len(p.Doubted), "experiment"), line(p.Doubted[0]))
	}
	if len(p.Wrong) == 0 {
		w.Printf("nothing is wrong\n")
	}
	for _, finding := range p.Wrong {
		w.Printf("wrong: %s\n", line(finding))
	}
	for _, finding := range p.Notes {
		w.Printf("note: %s\n", line(finding))
	}
	return w.Flush()
}
