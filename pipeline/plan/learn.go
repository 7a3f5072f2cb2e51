package plan

import (
	"fmt"
	"maps"

	"stackmill/schema/storedir"
)

// Learn reads the reports that tasks have left in the store. It adds the times that recordings took
// to measured, and the reports' journal entries to the journal. It only warns of errors: without a
// report, a plan has more inputs and worse estimates.
func Learn(store string, contents *storedir.Contents, measured *Measurements, warn func(error)) {
	noted := map[string]storedir.JournalEntry{}
	err := Reports(store, func(r *Report, err error) {
		if err != nil {
			warn(fmt.Errorf("%w (this report is not used)", err))
			return
		}
		measured.Add(r)
		maps.Copy(noted, r.Noted())
	})
	if err != nil {
		warn(err)
	}
	if len(noted) == 0 {
		return
	}
	for path, n := range storedir.ReadJournal(store) {
		if noted[path] == n {
			delete(noted, path)
		}
	}
	if len(noted) > 0 {
		_ = storedir.UpdateJournal(store, noted, contents.IsCurrent) // a hint only
	}
}
