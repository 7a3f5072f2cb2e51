package annotate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stackmill/queries"
)

// readInstructions reads the instructions of the function with their values.
func (a *annotation) readInstructions() error {
	if a.inlined {
		return nil
	}
	if err := a.readParts(); err != nil {
		return err
	}
	partOf, ids := map[int64]int32{}, []int64{}
	for i, p := range a.Parts {
		partOf[p.id], ids = int32(i), append(ids, p.id)
	}
	rows, err := a.db.Records(a.ctx, `WITH listed AS MATERIALIZED (
  SELECT DISTINCT function_id, listed_in, listing FROM (`+a.numbers(ids...)+`) JOIN listings USING (experiment_id, function_no)),
code AS (
  SELECT DISTINCT ON (function_id, "offset") function_id, "offset", i.size, i.text, i.target, i.target_name, i.file, i.line
  FROM listed JOIN instructions_rows() i USING (listed_in, listing) ORDER BY listed_in, listing),
spots AS (`+a.spots()+`)
SELECT c.*, COALESCE(s.exclusive, 0) AS exclusive, COALESCE(s.inclusive, 0) AS inclusive
FROM code c LEFT JOIN spots s USING ("offset") ORDER BY "offset"`)
	if err != nil {
		return err
	}
	slices.SortStableFunc(rows, func(x, y queries.Record) int {
		return cmp.Compare(partOf[x.Number("function_id")], partOf[y.Number("function_id")])
	})
	files := map[string]int32{"": -1}
	t := &a.Instructions
	for _, r := range rows {
		n := partOf[r.Number("function_id")]
		p := &a.Parts[n]
		t.Part, t.Offset = append(t.Part, n), append(t.Offset, r.Number("offset")-p.offset)
		t.Size, t.Text = append(t.Size, r.Number("size")), append(t.Text, r.Text("text"))
		t.Target, t.TargetName = append(t.Target, p.target(r)), append(t.TargetName, r.Text("target_name"))
		t.File, t.Line = append(t.File, a.fileNumber(files, r.Text("file"))), append(t.Line, r.Number("line"))
		t.Exclusive, t.Inclusive = append(t.Exclusive, r.Number("exclusive")), append(t.Inclusive, r.Number("inclusive"))
	}
	return nil
}

// readParts reads which functions have the code that is shown for the function.
func (a *annotation) readParts() error {
	of := fmt.Sprintf("function_id = %d", a.build.function)
	bodies := "false"
	if a.Request.Mode == "user" {
		bodies = fmt.Sprintf("kind = 'body' AND body_of = %d", a.build.function)
	}
	rows, err := a.db.Records(a.ctx, `SELECT DISTINCT ON (function_id) function_id, name, address, "offset", size FROM functions
WHERE (`+of+" OR "+bodies+") AND "+a.runs()+" ORDER BY function_id, experiment_id")
	if err != nil {
		return err
	}
	for _, r := range rows {
		a.Parts = append(a.Parts, Part{Name: r.Text("name"), Address: r.Number("address"), Size: r.Number("size"),
			id: r.Number("function_id"), offset: r.Number("offset")})
	}
	slices.SortFunc(a.Parts, func(x, y Part) int {
		own := func(p Part) int {
			if p.id == a.build.function {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(own(x), own(y)), cmp.Compare(x.offset, y.offset))
	})
	return nil
}

// target returns where an instruction jumps to, if that is inside the part. A call is not a jump, not even one of the
// function itself.
func (p *Part) target(r queries.Record) *int64 {
	to, is := r["target"].(int64)
	if to -= p.offset; !is || to < 0 || to >= p.Size || slices.ContainsFunc(strings.Fields(r.Text("text")), isCall) {
		return nil
	}
	return &to
}

// isCall reports whether a word of an instruction is the mnemonic of a direct call, on x86 or ARM.
func isCall(word string) bool { return word == "call" || word == "callq" || word == "bl" }

// spots is a query for the values of the function's instructions by offset, except of PCs with unknown instructions.
func (a *annotation) spots() string {
	return `SELECT COALESCE(l.instruction, l."offset") AS "offset",
    sum(v.exclusive)::BIGINT AS exclusive, sum(v.inclusive)::BIGINT AS inclusive
  FROM (` + a.places() + ") l JOIN pc_values v USING (experiment_id, location) WHERE l.reason = '' AND " + a.valuedPC() + " GROUP BY 1"
}

// places is a query for the function's locations in the runs.
func (a *annotation) places() string {
	return "SELECT l.* FROM (" + a.numbers(a.build.function) + ") JOIN locations l USING (experiment_id, function_no)"
}

// valuedPC is valued for pc_values, which has no modes with inlined functions.
func (a *annotation) valuedPC() string {
	return fmt.Sprintf("v.metric = %s AND by_mode(%s, v.in_user, v.in_expert, v.in_machine)",
		queries.Quote(a.Result.Metric), queries.Quote(a.Request.Mode))
}

// fileNumber returns the index of a file in a.Files, to which it adds a new file. numbers has the indexes by name.
func (a *annotation) fileNumber(numbers map[string]int32, file string) int32 {
	n, known := numbers[file]
	if !known {
		n = int32(len(a.Files))
		numbers[file] = n
		a.Files = append(a.Files, File{Name: file})
	}
	return n
}

// readLines reads the values of the function's lines, chooses the file, and reads the values of all its lines.
func (a *annotation) readLines() error {
	rows, err := a.db.Records(a.ctx, `SELECT v.file, v.line, sum(v.exclusive)::BIGINT AS exclusive, sum(v.inclusive)::BIGINT AS inclusive
FROM (`+a.numbers(a.build.function)+") JOIN line_values v USING (experiment_id, function_no) WHERE "+a.valued()+" GROUP BY ALL")
	if err != nil {
		return err
	}
	numbers := map[string]int32{}
	for i, f := range a.Files {
		numbers[f.Name] = int32(i)
	}
	for _, r := range rows {
		if r.Text("file") == "" {
			a.Lineless += r.Number("exclusive")
			continue
		}
		f := &a.Files[a.fileNumber(numbers, r.Text("file"))]
		f.Exclusive += r.Number("exclusive")
		f.include(r.Number("line"))
	}
	a.chooseFile()
	if a.Result.File < 0 {
		return nil
	}
	return a.readFile(rows)
}

// include extends the range of lines.
func (f *File) include(line int64) {
	if line == 0 {
		return
	}
	if f.First == 0 || line < f.First {
		f.First = line
	}
	f.Last = max(f.Last, line)
}

// chooseFile completes the files' ranges of lines, sorts the files, and takes the requested one or the one with the
// highest exclusive value. Of files with equal values, the one in which the code starts is first.
func (a *annotation) chooseFile() {
	t := &a.Instructions
	for i, n := range t.File {
		if n >= 0 {
			a.Files[n].include(t.Line[i])
		}
	}
	order := make([]int, len(a.Files))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(a.Files[y].Exclusive, a.Files[x].Exclusive) })
	files, at := make([]File, len(order)), make([]int32, len(order))
	for i, n := range order {
		files[i], at[n] = a.Files[n], int32(i)
	}
	a.Files = files
	for i, n := range t.File {
		if n >= 0 {
			t.File[i] = at[n]
		}
	}
	a.Result.File = slices.IndexFunc(a.Files, func(f File) bool { return f.Name == a.Request.File })
	if a.Result.File < 0 && len(a.Files) > 0 {
		a.Result.File = 0
	}
}

// readFile reads the values of all lines of the file. own has the values of the function's lines in all files.
func (a *annotation) readFile(own []queries.Record) error {
	file := a.Files[a.Result.File].Name
	exclusive, inclusive := map[int64]int64{}, map[int64]int64{}
	for _, r := range own {
		if r.Text("file") == file {
			exclusive[r.Number("line")], inclusive[r.Number("line")] = r.Number("exclusive"), r.Number("inclusive")
		}
	}
	rows, err := a.db.Records(a.ctx, `SELECT line, sum(exclusive)::BIGINT AS exclusive, sum(inclusive)::BIGINT AS inclusive
FROM source_values WHERE `+a.valued()+" AND file = ? AND "+a.runs()+" GROUP BY line ORDER BY line", file)
	if err != nil {
		return err
	}
	l := &a.Lines
	for _, r := range rows {
		line := r.Number("line")
		l.Line = append(l.Line, line)
		l.Exclusive, l.Inclusive = append(l.Exclusive, r.Number("exclusive")), append(l.Inclusive, r.Number("inclusive"))
		l.FunctionExclusive = append(l.FunctionExclusive, exclusive[line])
		l.FunctionInclusive = append(l.FunctionInclusive, inclusive[line])
	}
	rows, err = a.db.Records(a.ctx, `SELECT f.name, min(v.line) AS first, max(v.line) AS last, sum(v.exclusive)::BIGINT AS exclusive
FROM line_values v JOIN functions f USING (experiment_id, function_no)
WHERE `+a.valued()+" AND v.file = ? AND v.line > 0 AND f.function_id <> "+fmt.Sprint(a.build.function)+" AND "+a.runs()+`
GROUP BY f.name ORDER BY first, last, f.name`, file)
	for _, r := range rows {
		n := Neighbor{r.Text("name"), r.Number("first"), r.Number("last"), r.Number("exclusive")}
		a.Neighbors = append(a.Neighbors, n)
	}
	return err
}

// readText reads the text of the file from the newest run that has it.
func (a *annotation) readText() error {
	if a.Result.File < 0 {
		return nil
	}
	file := a.Files[a.Result.File].Name
	rows, err := a.db.Records(a.ctx, `WITH contents AS (SELECT listed_in, listing, max(content) AS content FROM source_files GROUP BY ALL)
SELECT t.listed_in, t.listing, c.content
FROM source_files t JOIN contents c USING (listed_in, listing) JOIN experiments e USING (experiment_id)
WHERE t.file = ? AND `+a.runs()+` ORDER BY e.started DESC NULLS LAST, experiment_id DESC`, file)
	if err != nil || len(rows) == 0 {
		return err
	}
	contents := map[int64]bool{}
	for _, r := range rows {
		contents[r.Number("content")] = true
	}
	a.Texts = len(contents)
	a.Text, err = a.db.Texts(a.ctx, "SELECT text FROM source_lines_rows() WHERE listed_in = ? AND listing = ? ORDER BY line",
		rows[0].Text("listed_in"), rows[0].Number("listing"))
	return err
}
