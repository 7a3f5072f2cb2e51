package pipeline

import "time"

// StageTime is the time that a stage took for one recording. For most concurrent workers it is the
// time that stages waited for them; symbolize, the rules and the sinks measure their own time.
type StageTime struct {
	Stage   string // the name that Explain prints, or one of the names below
	Elapsed time.Duration
}

// attributeStage is the stage that waits for the recording's turn in its batch. That wait is not
// counted.
const attributeStage = "attribute"

// Work outside of the stages.
const (
	identifyStage = "identify" // hashing the files, while the recording is opened
	eventsStage   = "events"   // waiting for batches of events from the decoder
	writeStage    = "write"    // an equal share of completing and committing the files of the batch
)

// took adds the time since a stage began.
func (r *Result) took(stage string, began time.Time) { r.add(stage, time.Since(began)) }

func (r *Result) add(stage string, elapsed time.Duration) {
	r.Stages = addTime(r.Stages, stage, elapsed)
}

// addTime adds to the time of a stage.
func addTime(stages []StageTime, stage string, elapsed time.Duration) []StageTime {
	for i := range stages {
		if stages[i].Stage == stage {
			stages[i].Elapsed += elapsed
			return stages
		}
	}
	return append(stages, StageTime{stage, elapsed})
}
