package queries

import (
	"strings"
	"testing"

	"stackmill/queries/storetest"
)

// Advice is given on sums over several modes or metrics, and on no others.
func TestAdvice(t *testing.T) {
	db := open(t, storetest.New(t, storetest.Two))
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for statement, want := range map[string]string{
		"SELECT sum(exclusive) FROM function_metrics":                                                                     "mode metric",
		"SELECT function, sum(exclusive) FROM function_metrics GROUP BY function":                                         "mode metric",
		"SELECT function, SUM(f.exclusive) FROM stackmill.Function_Metrics f WHERE f.metric = 'totalcpu' GROUP BY ALL":    "mode",
		"SELECT function, avg(inclusive / 1e9) s FROM function_metrics WHERE mode = 'user' GROUP BY ALL":                  "metric",
		"SELECT function, sum(exclusive) FROM function_metrics WHERE experiment = 'x' AND unit = 'ns' GROUP BY 1":         "mode metric",
		"WITH f AS (SELECT function, exclusive AS x FROM function_metrics) SELECT sum(x) FROM f":                          "mode metric",
		"SELECT sum(x) FROM (SELECT mode, metric, sum(exclusive) AS x FROM function_metrics GROUP BY ALL)":                "mode metric",
		"SELECT (SELECT sum(exclusive) FROM function_metrics WHERE mode = 'user') AS x":                                   "metric",
		"SELECT sum(value) FROM timeline_by(1000)":                                                                        "mode metric",
		"SELECT sum(value) FROM sample_metrics":                                                                           "metric",
		"SELECT function, sum(exclusive) OVER (PARTITION BY function) FROM function_metrics WHERE mode = 'user'":          "metric",
		"SELECT sum(exclusive) FROM function_metrics JOIN labels USING (experiment_id) WHERE label = 'night'":             "mode metric",
		"SELECT sum(a.exclusive) FROM function_metrics a JOIN function_metrics b USING (experiment_id, mode, metric)":     "mode metric",
		"SELECT sum(exclusive) FROM function_metrics WHERE mode = 'user' UNION ALL SELECT sum(value) FROM thread_metrics": "metric mode metric",

		"SELECT sum(exclusive) FROM function_values":                                                    "mode metric",
		"SELECT metric, sum(inclusive) FROM function_rollup GROUP BY metric":                            "mode",
		"SELECT sum(v.exclusive) FROM line_values v JOIN functions USING (experiment_id, function_no)":  "mode metric",
		"SELECT sum(exclusive) FROM pc_values WHERE in_user":                                            "metric",
		"SELECT sum(value) FROM stack_values":                                                           "metric",
		"SELECT sum(exclusive) FROM function_sums WHERE metric = 'totalcpu' AND in_user":                "",
		"SELECT sum(value) FROM stack_values WHERE metric = 'totalcpu'":                                 "",
		"SELECT in_user, in_expert, in_machine, metric, sum(exclusive) FROM object_values GROUP BY ALL": "",

		"SELECT mode, metric, sum(exclusive) FROM function_metrics GROUP BY mode, metric":                                                             "",
		"SELECT mode, metric, sum(exclusive) FROM function_metrics GROUP BY ALL":                                                                      "",
		"SELECT * EXCLUDE (exclusive, inclusive), sum(exclusive) FROM function_metrics GROUP BY ALL":                                                  "",
		"SELECT sum(exclusive) FROM function_metrics WHERE mode = 'user' AND metric = 'totalcpu'":                                                     "",
		"SELECT sum(exclusive) FROM (FROM function_metrics WHERE mode = 'user') WHERE metric LIKE 'total%'":                                           "",
		"WITH f AS (FROM function_metrics WHERE mode = 'user' AND metric = 'x') SELECT sum(exclusive) FROM f":                                         "",
		"WITH function_metrics AS (SELECT 1 AS exclusive) SELECT sum(exclusive) FROM function_metrics":                                                "",
		"SELECT sum(exclusive) FILTER (mode = 'user' AND metric = 'x'), sum(exclusive) FILTER (mode = 'expert') FROM function_metrics":                "",
		"SELECT sum(exclusive) FROM function_metrics JOIN default_metrics USING (experiment_id, metric) WHERE mode = 'user'":                          "",
		"SELECT max(exclusive), count(*), avg(address) FROM function_metrics":                                                                         "",
		"SELECT function, exclusive FROM function_metrics":                                                                                            "",
		"SELECT sum(exclusive) FROM top(3)":                                                                                                           "",
		"SELECT sum(samples), sum(duration_ns) FROM experiments":                                                                                      "",
		"SELECT sum(total) FROM (SELECT experiment, max(inclusive) AS total FROM function_metrics WHERE mode = 'user' AND metric = 'x' GROUP BY ALL)": "",
		"SELECT count(*) FROM function_metrics WHERE exclusive > (SELECT avg(samples) FROM experiments)":                                              "",
	} {
		advice := db.Advise(t.Context(), conn, statement)
		var got []string
		for _, a := range advice {
			if strings.Contains(a, "once per mode") || strings.Contains(a, "different modes") {
				got = append(got, "mode")
			}
			if strings.Contains(a, "mixes metrics") || strings.Contains(a, "different metrics") {
				got = append(got, "metric")
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", statement, advice, want)
		}
	}
}
