package serve

import (
	"time"

	"stackmill/queries"
)

// storeState is the state of the store, and what changed since an earlier one.
type storeState struct {
	State       string       `json:"state"`
	Experiments int          `json:"experiments"`
	Newest      *time.Time   `json:"newest"` // when an experiment was last added; null in an empty store
	Since       *storeChange `json:"since"`  // null if the earlier state is not named or no longer kept
}

// storeChange counts the experiments that differ between two states of the store.
type storeChange struct {
	Added   int `json:"added"`
	Removed int `json:"removed"`
	Changed int `json:"changed"` // ingested again, or with other labels
}

// describeStore answers with the state of the store.
func describeStore(w *job) error {
	store := w.from.(*lease)
	w.state = store.state()
	now := store.whole.db.Experiments()
	answer := storeState{State: store.state(), Experiments: len(now)}
	for i := range now {
		if at := now[i].Ingested; answer.Newest == nil || at.After(*answer.Newest) {
			answer.Newest = &at
		}
	}
	if since := w.values.Get("since"); since != "" {
		earlier, err := store.pinState(w.ctx, since)
		if err != nil {
			return err
		}
		defer earlier.release()
		if earlier.state() == since {
			answer.Since = countChanges(earlier.whole.db.Experiments(), now)
		}
	}
	return w.writeJSON(answer)
}

// countChanges compares the experiments of two states, both sorted by id.
func countChanges(before, after []queries.Experiment) *storeChange {
	var c storeChange
	for i, j := 0, 0; i < len(before) || j < len(after); {
		switch {
		case j == len(after) || i < len(before) && before[i].ExperimentID < after[j].ExperimentID:
			c.Removed++
			i++
		case i == len(before) || before[i].ExperimentID > after[j].ExperimentID:
			c.Added++
			j++
		default:
			if before[i].State() != after[j].State() {
				c.Changed++
			}
			i, j = i+1, j+1
		}
	}
	return &c
}
