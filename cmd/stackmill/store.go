package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"stackmill/queries"
	"stackmill/stages/write"
)

// open opens the store for a verb.
func (a *app) open(ctx context.Context) (*queries.DB, error) {
	db, err := queries.Open(ctx, a.store)
	if errors.Is(err, write.ErrNoStore) {
		return nil, fmt.Errorf("open the store: no store at %s (run `stackmill ingest --store %s PATH` first)", a.store, a.store)
	}
	if err != nil {
		return nil, fmt.Errorf("open the store: %w", err)
	}
	return db, nil
}

// firstColumn returns the first column of a query.
func firstColumn(ctx context.Context, db *queries.DB, query string, args ...any) ([]string, error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, rows.Err()
}

// experiment names one experiment of the store.
type experiment struct{ id, name string }

// experimentsOf returns the experiments that the names stand for, all of the
// store's without names. A name may be the name for people, the id, or the
// name's last part with or without its suffix.
func experimentsOf(ctx context.Context, db *queries.DB, names []string) ([]experiment, error) {
	rows, err := db.QueryContext(ctx, "SELECT experiment_id, experiment FROM experiment_names ORDER BY experiment")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []experiment
	for rows.Next() {
		var e experiment
		if err := rows.Scan(&e.id, &e.name); err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return all, nil
	}
	var chosen []experiment
	for _, name := range names {
		found := matching(all, name)
		if len(found) == 0 {
			var known []string
			for _, e := range all {
				known = append(known, e.name, base(e.name))
			}
			return nil, fmt.Errorf("no experiment %q in the store%s (stackmill experiments lists them)", name, near(slices.Compact(closest(name, known))))
		}
		for _, e := range found {
			if !slices.Contains(chosen, e) {
				chosen = append(chosen, e)
			}
		}
	}
	return chosen, nil
}

func matching(all []experiment, name string) []experiment {
	name = strings.TrimSuffix(name, "/")
	for _, is := range []func(experiment) bool{
		func(e experiment) bool { return e.name == name || e.id == name },
		func(e experiment) bool {
			b := base(e.name)
			return b == name || strings.TrimSuffix(b, ".er") == name || strings.HasSuffix(e.name, "/"+name)
		},
	} {
		var found []experiment
		for _, e := range all {
			if is(e) {
				found = append(found, e)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// base is the recording's own name within a name that is unique.
func base(name string) string {
	name, _, _ = strings.Cut(name[strings.LastIndex(name, "/")+1:], "@")
	return name
}

// closest returns up to five of the known names that name may have been meant
// to be: those that contain it, or differ by few letters.
func closest(name string, known []string) []string {
	type candidate struct {
		name     string
		distance int
	}
	var found []candidate
	for _, k := range known {
		d := distance(strings.ToLower(name), strings.ToLower(k))
		if strings.Contains(strings.ToLower(k), strings.ToLower(name)) {
			d = 0
		}
		if d <= (len(name)+2)/3 {
			found = append(found, candidate{k, d})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return a.distance - b.distance })
	var names []string
	for _, c := range found[:min(5, len(found))] {
		names = append(names, c.name)
	}
	return names
}

// distance is the number of bytes to insert, remove or replace between a and b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
