package queries

import "context"

// Select returns the experiments of an open store that one of the selectors stands for,
// by id.
func (db *DB) Select(ctx context.Context, selectors ...string) ([]Experiment, error) {
	open := func() (*DB, error) { return OpenWith(ctx, db.Store, Options{}) }
	chosen, err := (&selection{ctx, open, db.Experiments}).any(selectors)
	if err != nil {
		return nil, err
	}
	var list []Experiment
	for i, is := range chosen {
		if is {
			list = append(list, db.Experiments[i])
		}
	}
	return list, nil
}
