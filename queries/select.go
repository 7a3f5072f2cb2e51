package queries

import "context"

// Select returns the experiments of an open store that one of the selectors stands for,
// by id.
func (db *DB) Select(ctx context.Context, selectors ...string) ([]Experiment, error) {
	open := func() (*DB, error) { return OpenWith(ctx, db.Store, Options{}) }
	all := db.Experiments()
	chosen, err := (&selection{ctx, open, all}).any(selectors)
	if err != nil {
		return nil, err
	}
	var list []Experiment
	for i, is := range chosen {
		if is {
			list = append(list, all[i])
		}
	}
	return list, nil
}
