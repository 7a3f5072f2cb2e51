package annotate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"stackmill/queries"
	"stackmill/queries/report"
)

// maxFunctions limits Result.Functions.
const maxFunctions = 100

// chooseFunction finds the functions that the request matches, and takes the one with the highest exclusive value. A
// function that has values only where it is inlined into others is found if no other function matches.
func (a *annotation) chooseFunction() error {
	a.searched = true
	if a.Key != "" {
		var err error
		if a.key, err = strconv.ParseInt(a.Key, 10, 64); err != nil {
			return fmt.Errorf("key: %q is not an integer", a.Key)
		}
	}
	for _, a.inlined = range []bool{false, true} {
		names, err := a.names()
		if err != nil {
			return err
		}
		if a.Request.Function != "" && names == nil {
			continue
		}
		if err := a.findFunctions(names); err != nil || len(a.Functions) > 0 {
			return err
		}
		if a.Hottest {
			break
		}
	}
	return nil
}

// names returns the names of functions with values that the request matches: the name itself if it exists.
func (a *annotation) names() ([]string, error) {
	if a.Request.Function == "" {
		return nil, nil
	}
	if !utf8.ValidString(a.Request.Function) {
		return nil, fmt.Errorf("function: %q is not UTF-8", a.Request.Function)
	}
	from := "FROM function_rollup WHERE " + a.valued() + " AND " + a.among(a.all)
	exact, err := a.db.Texts(a.ctx, `SELECT DISTINCT "function" `+from+` AND "function" = ?`, a.Request.Function)
	if err != nil || exact != nil {
		return exact, err
	}
	known, err := a.db.Texts(a.ctx, `SELECT DISTINCT "function" `+from+` ORDER BY 1`)
	return report.NamesOf(known, a.Request.Function), err
}

// findFunctions lists the functions with these names; without names, those with the highest exclusive values.
func (a *annotation) findFunctions(names []string) error {
	condition, limit := "kind NOT IN ('artificial', 'unknown')", 1
	switch {
	case names != nil:
		condition, limit = `"function" IN (`+queries.Quote(names...)+")", maxFunctions
	case a.Key != "":
		condition = fmt.Sprintf("function_key = %d", a.key)
	}
	rows, err := a.db.Records(a.ctx, fmt.Sprintf(`SELECT function_key::VARCHAR AS key,
  arg_min("function", experiment_id) AS name, arg_min(load_object, experiment_id) AS load_object,
  arg_min(module, experiment_id) AS module, arg_min(kind, experiment_id) AS kind,
  sum(exclusive)::BIGINT AS exclusive, sum(inclusive)::BIGINT AS inclusive
FROM function_rollup WHERE %s AND %s AND %s GROUP BY function_key
ORDER BY exclusive DESC, inclusive DESC, name, key LIMIT %d`, a.valued(), a.among(a.all), condition, limit))
	for _, r := range rows {
		a.Functions = append(a.Functions, Function{r.Text("key"), r.Text("name"), r.Text("load_object"), r.Text("module"),
			r.Text("kind"), r.Number("exclusive"), r.Number("inclusive")})
	}
	if len(a.Functions) > 0 {
		chosen := max(0, slices.IndexFunc(a.Functions, func(f Function) bool { return f.Key == a.Key }))
		a.Result.Function = &a.Functions[chosen]
	}
	return err
}

// chooseBuild finds the builds of the function, and takes the requested one or the newest.
func (a *annotation) chooseBuild() error {
	rows, err := a.db.Records(a.ctx, `WITH found AS MATERIALIZED (
  SELECT function_id, sum(exclusive)::BIGINT AS exclusive, sum(inclusive)::BIGINT AS inclusive FROM function_rollup
  WHERE `+a.valued()+" AND "+a.among(a.all)+" AND function_key = "+a.Result.Function.Key+` GROUP BY function_id),
objects AS MATERIALIZED (SELECT DISTINCT v.*, f.load_object_id FROM found v JOIN functions f USING (function_id) WHERE `+a.among(a.all)+`)
SELECT v.function_id, v.exclusive, v.inclusive, o.load_object_id::VARCHAR AS id, arg_min(o.path, o.experiment_id) AS path,
  arg_min(o.name, o.experiment_id) AS name, arg_min(o.build_id, o.experiment_id) AS build_id,
  list(o.experiment_id ORDER BY o.experiment_id) AS experiments, max_by(o.experiment_id, (e.started, o.experiment_id)) AS newest,
  COALESCE(strftime(min(e.started), '%Y-%m-%dT%H:%M:%SZ'), '') AS first,
  COALESCE(strftime(max(e.started), '%Y-%m-%dT%H:%M:%SZ'), '') AS last
FROM objects v JOIN load_objects o USING (load_object_id) JOIN experiments e USING (experiment_id)
WHERE `+a.among(a.all)+` GROUP BY ALL ORDER BY max(e.started) DESC NULLS LAST, v.exclusive DESC, id`)
	if err != nil {
		return err
	}
	for i, r := range rows {
		b := Build{ID: r.Text("id"), Path: r.Text("path"), BuildID: r.Text("build_id"),
			First: r.Text("first"), Last: r.Text("last"),
			Exclusive: r.Number("exclusive"), Inclusive: r.Number("inclusive"), function: r.Number("function_id"), newest: r.Text("newest")}
		if b.Path == "" {
			b.Path = r.Text("name")
		}
		ids, _ := r["experiments"].([]any)
		for _, id := range ids {
			text, _ := id.(string)
			b.experiments = append(b.experiments, text)
		}
		b.Runs = len(b.experiments)
		a.Builds = append(a.Builds, b)
		if b.ID == a.Request.Build {
			a.Result.Build = i
		}
	}
	if len(a.Builds) == 0 {
		return fmt.Errorf("the store does not say which load object %s belongs to (stackmill check finds out what is damaged)", a.Result.Function.Name)
	}
	a.Result.Build = max(a.Result.Build, 0)
	a.build = &a.Builds[a.Result.Build]
	a.Runs, a.Exclusive, a.Inclusive = a.build.Runs, a.build.Exclusive, a.build.Inclusive
	return nil
}

// readTotals reads <Total> of the build's runs.
func (a *annotation) readTotals() error {
	return a.db.QueryRowContext(a.ctx, `SELECT COALESCE(sum(inclusive), 0)::BIGINT FROM function_rollup
WHERE `+a.valued()+` AND "function" = '<Total>' AND kind = 'artificial' AND `+a.runs()).Scan(&a.Total)
}

// runs is the SQL condition that experiment_id is a run of the build.
func (a *annotation) runs() string { return a.among(a.build.experiments) }

// numbers is a query for the numbers of functions with these ids in the runs, by experiment.
func (a *annotation) numbers(ids ...int64) string {
	list := make([]string, len(ids))
	for i, id := range ids {
		list[i] = strconv.FormatInt(id, 10)
	}
	return "SELECT experiment_id, function_no, function_id FROM functions WHERE function_id IN (" + strings.Join(list, ", ") + ") AND " + a.runs()
}

// readContainers finds the functions that contain the code of a function that is inlined everywhere.
func (a *annotation) readContainers() (err error) {
	if !a.inlined {
		return nil
	}
	names, err := a.db.Texts(a.ctx, `SELECT c.name FROM (`+a.numbers(a.build.function)+`) f
JOIN inline_frames i USING (experiment_id, function_no)
JOIN locations l USING (experiment_id, location)
JOIN functions c ON c.experiment_id = l.experiment_id AND c.function_no = l.function_no
LEFT JOIN pc_values v ON v.experiment_id = l.experiment_id AND v.location = l.location AND v.metric = `+queries.Quote(a.Result.Metric)+`
GROUP BY c.name ORDER BY sum(v.exclusive) DESC NULLS LAST, c.name LIMIT 20`)
	a.Containers = append(a.Containers, names...)
	return err
}
