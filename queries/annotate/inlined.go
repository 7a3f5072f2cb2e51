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
	rows, err := a.db.Records(a.ctx, `WITH l AS MATERIALIZED (`+a.places()+`),
valued AS MATERIALIZED (
  SELECT l.experiment_id, l.location, l.line, v.exclusive, v.inclusive
  FROM l JOIN pc_values v USING (experiment_id, location) WHERE l.file = ? AND `+a.valuedPC()+`),
chains AS (
  SELECT i.experiment_id, i.location, list(COALESCE(f.name, '(unknown)') ORDER BY i.depth) AS names,
    list(i.file ORDER BY i.depth) AS files, list(i.line ORDER BY i.depth) AS lines
  FROM valued v JOIN inline_frames i USING (experiment_id, location)
  LEFT JOIN functions f USING (experiment_id, function_no) GROUP BY ALL)
SELECT v.line, c.names, c.files, c.lines, sum(v.exclusive)::BIGINT AS exclusive, sum(v.inclusive)::BIGINT AS inclusive
FROM valued v JOIN chains c USING (experiment_id, location) GROUP BY ALL`, a.Files[a.Result.File].Name)
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
