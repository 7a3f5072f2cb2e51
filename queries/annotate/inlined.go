package annotate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// readInlined reads the code that is inlined at the function's lines in the file. The exclusive value of an instruction
// is that of the innermost place; its inclusive value belongs to all places around it.
func (a *annotation) readInlined() error {
	if a.inlined || a.Result.File < 0 {
		return nil
	}
	additive, err := a.isAdditive()
	if err != nil {
		return err
	}
	// Runs of one build have few different chains of inlined functions: instructions are summed by a hash of their chain,
	// and only one instruction with each chain is read as a list.
	rows, err := a.db.Records(a.ctx, `WITH l AS MATERIALIZED (`+a.places()+`),
valued AS MATERIALIZED (
  SELECT l.experiment_id, l.location, l.line, v.exclusive, v.inclusive
  FROM l JOIN pc_values v USING (experiment_id, location) WHERE l.file = ? AND `+a.valuedPC()+`),
frames AS MATERIALIZED (
  SELECT i.experiment_id, i.location, i.depth, COALESCE(f.name, '(unknown)') AS name, i.file, i.line
  FROM valued v JOIN inline_frames i USING (experiment_id, location) LEFT JOIN functions f USING (experiment_id, function_no)),
chains AS (SELECT experiment_id, location, bit_xor(hash(depth, name, file, line)) AS chain FROM frames GROUP BY ALL),
sums AS MATERIALIZED (
  SELECT v.line, c.chain, min((experiment_id, location)) AS example,
    sum(v.exclusive)::BIGINT AS exclusive, sum(v.inclusive)::BIGINT AS inclusive
  FROM valued v JOIN chains c USING (experiment_id, location) GROUP BY ALL)
SELECT s.line, s.exclusive, s.inclusive, list(f.name ORDER BY f.depth) AS names,
  list(f.file ORDER BY f.depth) AS files, list(f.line ORDER BY f.depth) AS lines
FROM sums s JOIN frames f ON f.experiment_id = s.example[1] AND f.location = s.example[2]
GROUP BY s.line, s.chain, s.exclusive, s.inclusive`,
		a.Files[a.Result.File].Name)
	if err != nil {
		return err
	}
	type place struct {
		line       int64
		path, file string
	}
	at := map[place]int{}
	for _, r := range rows {
		names, files, lines := r["names"].([]any), r["files"].([]any), r["lines"].([]any)
		path := ""
		for depth := range names {
			name, _ := names[depth].(string)
			file, _ := files[depth].(string)
			line, _ := lines[depth].(int32)
			path = strings.TrimPrefix(fmt.Sprintf("%s > %s:%d", path, name, line), " > ")
			key := place{r.Number("line"), path, file}
			n, known := at[key]
			if !known {
				n = len(a.Inlined)
				at[key] = n
				p := InlinedPlace{Line: r.Number("line"), Depth: depth, Path: path, Function: name, File: file, At: int64(line)}
				if additive {
					p.Inclusive = new(int64)
				}
				a.Inlined = append(a.Inlined, p)
			}
			p := &a.Inlined[n]
			if depth == len(names)-1 {
				p.Exclusive += r.Number("exclusive")
			}
			if additive {
				*p.Inclusive += r.Number("inclusive")
			}
		}
	}
	slices.SortFunc(a.Inlined, func(x, y InlinedPlace) int {
		return cmp.Or(cmp.Compare(x.Line, y.Line), cmp.Compare(x.Path, y.Path), cmp.Compare(x.File, y.File))
	})
	return nil
}

// isAdditive reports whether the inclusive values of the function's instructions add up, because no stack contains the
// function twice. It also sets a.Unplaced.
func (a *annotation) isAdditive() (bool, error) {
	var inclusive int64
	err := a.db.QueryRowContext(a.ctx, `SELECT COALESCE(sum(v.inclusive), 0)::BIGINT, COALESCE(sum(v.exclusive) FILTER (l.reason <> ''), 0)::BIGINT
FROM (`+a.places()+") l JOIN pc_values v USING (experiment_id, location) WHERE "+a.valuedPC()).Scan(&inclusive, &a.Unplaced)
	return inclusive == a.Inclusive, err
}
