package queries

import (
	"strings"
	"testing"

	"stackmill/queries/storetest"
)

// A condition on a name gets one on the id if nothing else in the statement changes.
func TestResolved(t *testing.T) {
	defer func(n int) { many = n }(many)
	many = 1
	db := open(t, storetest.New(t, storetest.Two))
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(t.Context(), "CREATE TEMP TABLE folded AS SELECT 'a.er' AS experiment, 'x' AS experiment_id; CREATE TEMP TABLE mine AS SELECT 'a.er' AS experiment"); err != nil {
		t.Fatal(err)
	}
	list := db.Experiments()
	name := list[0].Name
	fill := strings.NewReplacer("NAME", name, "ID", list[0].ExperimentID)
	for statement, want := range map[string]string{
		"FROM call_tree WHERE experiment = 'NAME' AND depth < 3":                                      "FROM call_tree WHERE experiment_id = 'ID' AND experiment = 'NAME' AND depth < 3",
		"FROM call_tree WHERE depth < 3 AND (experiment = 'NAME' AND mode = 'user')":                  "FROM call_tree WHERE depth < 3 AND (experiment_id = 'ID' AND experiment = 'NAME' AND mode = 'user')",
		"SELECT 'é' FROM call_tree WHERE (Experiment IN ('NAME', 'x'))":                               "SELECT 'é' FROM call_tree WHERE (experiment_id = 'ID' AND Experiment IN ('NAME', 'x'))",
		"SELECT count(*) FROM call_tree t WHERE t.experiment LIKE 'NAME'":                             `SELECT count(*) FROM call_tree t WHERE t.experiment_id = 'ID' AND t.experiment LIKE 'NAME'`,
		"FROM call_tree JOIN experiments e USING (experiment_id) WHERE e.experiment = 'NAME'":         "FROM call_tree JOIN experiments e USING (experiment_id) WHERE e.experiment_id = 'ID' AND e.experiment = 'NAME'",
		"FROM (FROM call_tree WHERE experiment = 'NAME') WHERE depth = 1":                             "FROM (FROM call_tree WHERE experiment_id = 'ID' AND experiment = 'NAME') WHERE depth = 1",
		"WITH c AS (FROM call_tree WHERE experiment = 'none') SELECT count(*) FROM c":                 "WITH c AS (FROM call_tree WHERE experiment_id = '' AND experiment = 'none') SELECT count(*) FROM c",
		"EXPLAIN FROM call_tree WHERE experiment = 'NAME'":                                            "EXPLAIN FROM call_tree WHERE experiment_id = 'ID' AND experiment = 'NAME'",
		"CREATE TEMP TABLE x AS FROM call_tree WHERE experiment = 'NAME'":                             "CREATE TEMP TABLE x AS FROM call_tree WHERE experiment_id = 'ID' AND experiment = 'NAME'",
		"FROM timeline_by(1000) WHERE experiment = 'NAME'":                                            "FROM timeline_by(1000) WHERE experiment_id = 'ID' AND experiment = 'NAME'",
		"FROM call_tree WHERE experiment = 'NAME' UNION ALL FROM call_tree WHERE experiment = 'none'": "FROM call_tree WHERE experiment_id = 'ID' AND experiment = 'NAME' UNION ALL FROM call_tree WHERE experiment_id = '' AND experiment = 'none'",

		"FROM call_tree WHERE experiment = 'NAME' OR depth = 1":                                                          "",
		"FROM call_tree WHERE NOT experiment = 'NAME'":                                                                   "",
		"FROM call_tree WHERE (experiment || '') = 'NAME'":                                                               "",
		"FROM folded WHERE experiment = 'NAME'":                                                                          "",
		"FROM mine, samples WHERE experiment = 'a.er'":                                                                   "",
		"FROM mine WHERE experiment = 'a.er'":                                                                            "",
		"WITH call_tree AS (SELECT 'NAME' AS experiment, 'x' AS experiment_id) FROM call_tree WHERE experiment = 'NAME'": "",
		"FROM call_tree t(a, experiment) WHERE experiment = 'NAME'":                                                      "",
		"FROM call_tree, call_tree, experiments e WHERE e.experiment = 'NAME'":                                           "",
		"FROM call_tree WHERE experiment LIKE '%'":                                                                       "",
		"FROM call_tree a, call_tree b WHERE experiment = 'NAME'":                                                        "",
		"FROM experiment_names n, samples WHERE experiment = 'NAME'":                                                     "",
		"SELECT experiment FROM experiments":                                                                             "",
	} {
		statement = fill.Replace(statement)
		if want = fill.Replace(want); want == "" {
			want = statement
		}
		want = strings.ReplaceAll(want, "t.experiment_id", `"t".experiment_id`)
		want = strings.ReplaceAll(want, "e.experiment_id", `"e".experiment_id`)
		if got := db.resolved(t.Context(), conn, statement); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", statement, got, want)
		}
	}
}

// A view has the same rows for a condition on the name, resolved or not, and on the id.
func TestResolvedViews(t *testing.T) {
	db := open(t, storetest.New(t, storetest.Two))
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	defer func(n int) { many = n }(many)
	views, err := Views()
	if err != nil {
		t.Fatal(err)
	}
	name := db.Experiments()[1].Name
	for _, v := range views {
		if len(v.Parameters) > 0 || !withNames()[v.Name] {
			continue
		}
		statement := "SELECT count(*), bit_xor(hash(t)) FROM " + v.Name + " t WHERE experiment = " + quote(name)
		many = 1
		edited := db.resolved(t.Context(), conn, statement)
		if edited == statement {
			t.Errorf("%s is not resolved", v.Name)
		}
		var n, m int
		var was, is any
		if err := conn.QueryRowContext(t.Context(), statement).Scan(&n, &was); err != nil {
			t.Fatal(err)
		}
		if err := conn.QueryRowContext(t.Context(), edited).Scan(&m, &is); err != nil {
			t.Fatal(err)
		}
		if n != m || was != is {
			t.Errorf("%s: %d rows %v, want %d rows %v", v.Name, m, is, n, was)
		}
	}
}
