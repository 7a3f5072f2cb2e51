package annotate

import (
	"fmt"
	"path"
	"strings"
)

// resymbolize is the command that reads the files of load objects again.
const resymbolize = "stackmill resymbolize"

// explain says why source or instructions are missing.
func (a *annotation) explain() error {
	if a.Texts > 0 && len(a.Instructions.Text) > 0 {
		return nil
	}
	objects, err := a.db.Records(a.ctx, `SELECT symbols, bool_or(lines) AS lines FROM load_objects WHERE load_object_id = `+a.build.ID+` AND `+a.runs()+` GROUP BY symbols ORDER BY symbols <> 'none', symbols`)
	if err != nil {
		return err
	}
	symbols, lines := "none", false
	for _, o := range objects {
		symbols, lines = o.Text("symbols"), lines || o["lines"] == true
	}
	if len(a.Instructions.Text) == 0 {
		a.NoInstructions = a.noInstructions(symbols)
	}
	switch {
	case a.Result.File < 0:
		a.NoSource = a.noLines(symbols, lines)
	case a.Texts == 0:
		a.NoSource, err = a.noText()
	}
	return err
}

// unlike returns why neither lines nor instructions can be known, or nil.
func (a *annotation) unlike(symbols string) *Explanation {
	switch f := a.Result.Function; {
	case f.Kind == "artificial" || f.Kind == "unknown":
		return &Explanation{Reason: f.Name + " is not a function with code."}
	case symbols == "none":
		return &Explanation{a.build.Path + " was not found when the recording was read. When the file is available, read it again:", resymbolize}
	}
	return nil
}

func (a *annotation) noInstructions(symbols string) *Explanation {
	f := a.Result.Function
	switch m := a.unlike(symbols); {
	case m != nil:
		return m
	case a.inlined:
		return &Explanation{Reason: "The compiler inlined " + f.Name + " wherever it is called: its instructions are in the functions that call it."}
	case symbols == "recording":
		return &Explanation{Reason: "Only the recording describes " + a.build.Path + ", and it has no machine code."}
	}
	return &Explanation{Reason: "The machine code of " + f.Name + " in " + a.build.Path + " is missing: only symbols were found, or the code is for a processor that stackmill does not decode."}
}

// noLines says why no line of the function is known.
func (a *annotation) noLines(symbols string, lines bool) *Explanation {
	f := a.Result.Function
	switch m := a.unlike(symbols); {
	case m != nil:
		return m
	case symbols == "recording":
		return &Explanation{Reason: "Only the recording describes " + a.build.Path + ", and it has no lines of this function."}
	case lines:
		return &Explanation{Reason: "The debug information of " + a.build.Path + " has no line of " + f.Name + "."}
	}
	return &Explanation{a.build.Path + " has no line numbers: it was built without debug information, or that was not found. When the debug information is available, read it again:", resymbolize}
}

// noText says why the text of the file is missing. The problems of the newest run name the cause: of each kind, they name
// only a few of the files.
func (a *annotation) noText() (*Explanation, error) {
	file := a.Files[a.Result.File].Name
	problems, err := a.db.Records(a.ctx, `SELECT reason, file, message FROM problems WHERE reason IN ('unreadable-source', 'stale-source', 'missing-source', 'private-source', 'source-outside') AND experiment_id = ?
ORDER BY file <> ?, reason`, a.build.newest, file)
	if err != nil {
		return nil, err
	}
	kinds := map[string]bool{}
	for _, p := range problems {
		if own := p.Text("file") == file; own && (p.Text("reason") == "unreadable-source" || p.Text("reason") == "stale-source") {
			return a.withoutText("The text of " + file + " is not shown: " + p.Text("message") + "."), nil
		}
		kinds[p.Text("reason")] = true
	}
	why := []string{}
	for _, k := range []struct{ reason, text string }{
		{"missing-source", "was not found at that path"}, {"private-source", "may not be read by everyone there"}, {"source-outside", "is a link that leads out of the recording"},
	} {
		if kinds[k.reason] {
			why = append(why, k.text)
		}
	}
	if len(why) == 0 {
		why = append(why, "was not found at that path")
	}
	return a.withoutText(fmt.Sprintf("The text of %s is not in the store: the file %s when the recording was read.", file, strings.Join(why, ", or "))), nil
}

// withoutText adds to a reason the command that reads the text.
func (a *annotation) withoutText(reason string) *Explanation {
	of := ""
	for _, e := range a.db.Experiments() {
		if e.ExperimentID == a.build.newest {
			of = e.Name
		}
	}
	folder := path.Dir(a.Files[a.Result.File].Name)
	return &Explanation{reason + " Delete the experiment and ingest its recording again, with the folder of the sources:",
		"stackmill forget " + quoteShell(of) + " && stackmill ingest --forgotten --source-path " + quoteShell(folder+"=SOURCES") + " RECORDING"}
}

// quoteShell quotes a word of a command if a shell would change it.
func quoteShell(word string) string {
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-=+:,@", r))
	}) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
