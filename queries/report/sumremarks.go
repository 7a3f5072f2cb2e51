package report

import (
	"context"
	"slices"
	"strings"

	"stackmill/queries"
)

// sumRemark describes things that a sum over experiments cannot add up, or adds up although they may differ.
type sumRemark struct {
	applies func(*Request) bool
	query   string // selects the texts `what` for the remark; without rows, there is no remark
	say     func(q *Question, what []string)
}

// hasAny returns a condition that holds for reports whose sums have any of these keys.
func hasAny(keys ...string) func(*Request) bool {
	return func(r *Request) bool {
		return slices.ContainsFunc(r.addition().keys, func(k string) bool { return slices.Contains(keys, k) })
	}
}

var sumRemarks = []sumRemark{
	{
		applies: hasAny("location_id", "code_function_id", "stack_id", "code_offset"),
		query: `SELECT ` + queries.ObjectPath + ` || ' (' || count(DISTINCT o.load_object_id) || ')' AS what
			FROM load_objects o SEMI JOIN object_values USING (experiment_id, load_object_id) GROUP BY ` + queries.ObjectPath + `
			HAVING count(DISTINCT o.load_object_id) > 1 ORDER BY what`,
		say: func(q *Question, what []string) {
			q.remark("instructions of different builds are not added up: there are several of %s", someOf(what))
		},
	},
	{
		applies: hasAny("line"),
		query: `WITH several AS (
			SELECT ` + queries.ObjectPath + ` AS object FROM load_objects o SEMI JOIN object_values USING (experiment_id, load_object_id) GROUP BY object HAVING count(DISTINCT o.load_object_id) > 1
		)
			SELECT DISTINCT COALESCE(NULLIF(u.short_path, ''), u.name) AS what
			FROM modules u JOIN load_objects o USING (experiment_id, load_object_id) JOIN several s ON s.object = ` + queries.ObjectPath + `
			SEMI JOIN (SELECT DISTINCT experiment_id, file AS name FROM source_values) v ON v.experiment_id = u.experiment_id AND v.name = u.name
			ANTI JOIN source_files t ON t.experiment_id = u.experiment_id AND t.file = u.name ORDER BY what`,
		say: func(q *Question, what []string) {
			q.remark("lines of different builds are added up by number, because the store does not have the text of %s", someOf(what))
		},
	},
	{
		applies: hasAny("line"),
		query: `WITH ` + shortFiles + `
			SELECT short AS what FROM source_files JOIN file_keys USING (file) GROUP BY short HAVING count(DISTINCT content) > 1 ORDER BY what`,
		say: func(q *Question, what []string) {
			q.remark("lines are added up by number, although the text differs between experiments: %s", someOf(what))
		},
	},
	{
		applies: hasAny("function_id", "node_id"),
		query: `SELECT f.name AS what FROM functions f JOIN load_objects o USING (experiment_id, load_object_id) WHERE f.name_scope = 'build'
			GROUP BY f.name, ` + queries.ObjectPath + ` HAVING count(DISTINCT o.load_object_id) > 1 ORDER BY what`,
		say: func(q *Question, what []string) {
			q.remark("%s of different builds not added up, because only their addresses tell them from others: %s", queries.Count(len(what), "function"), someOf(what))
		},
	},
	{
		applies: hasAny("cpu"),
		query:   "SELECT DISTINCT host AS what FROM experiments WHERE host <> '' ORDER BY host",
		say: func(q *Question, what []string) {
			if len(what) > 1 {
				q.remark("CPUs of the same number are added up, although they are of different hosts: %s", someOf(what))
			}
		},
	},
}

// sayApart adds remarks about things that the sum does not add up, or adds up although they may differ.
func (q *Question) sayApart(ctx context.Context) error {
	for _, r := range sumRemarks {
		if !r.applies(q.Request) {
			continue
		}
		what, err := q.db.Texts(ctx, r.query)
		if err != nil {
			return err
		}
		if len(what) > 0 {
			r.say(q, what)
		}
	}
	return nil
}

// someOf returns a text with the first names.
func someOf(names []string) string {
	const most = 3
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + " and " + queries.Count(len(names)-most, "other")
}
