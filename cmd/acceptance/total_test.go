package acceptance

import "testing"

// `<Total>` is the sum of everything (S19): each list has at most one such row per mode and metric
// of an experiment, with the value of all its samples.
func TestOneTotal(t *testing.T) {
	lists := map[string]string{
		"function_metrics":        "function = '<Total>' OR load_object = '<Total>'",
		"inline_function_metrics": "function = '<Total>' OR load_object = '<Total>'",
		"load_object_metrics":     "load_object = '<Total>'",
		"module_metrics":          "load_object = '<Total>' OR module = '<Total>'",
		"line_metrics":            "function = '<Total>'",
		"pc_metrics":              "function = '<Total>' OR load_object = '<Total>'",
		"unattributed":            "load_object = '<Total>'",
	}
	for view, named := range lists {
		value := "v.inclusive"
		if view == "unattributed" {
			value = "v.value"
		}
		if rows := number(t, shared.DB, `SELECT count(*) FROM (
			SELECT experiment_id, mode, metric, count(*) AS n, sum(`+value+`) AS total FROM `+view+` v WHERE `+named+` GROUP BY ALL
		) v LEFT JOIN (
			SELECT experiment_id, mode, metric, sum(value) AS value FROM stack_metrics GROUP BY ALL
		) s USING (experiment_id, mode, metric) WHERE n > 1 OR total <> s.value`); rows > 0 {
			t.Errorf("%s: %d lists have more than one <Total>, or one that is not everything", view, rows)
		}
	}
	if n := number(t, shared.DB, `SELECT count(*) FROM call_tree WHERE (function = '<Total>') <> (depth = 0)`); n > 0 {
		t.Errorf("%d nodes of call trees are wrongly <Total> or not", n)
	}
	if n := number(t, shared.DB, `SELECT count(*) FROM load_object_metrics WHERE load_object = '<Artificial>' AND exclusive + inclusive > 0`); n == 0 {
		t.Error("no artificial function has a value: nothing was tested")
	}
}
