package pipeline

import "time"

// StageTime is how long a stage took with one recording. What runs beside the stages
// counts where it is waited for, but for symbolize, the rules and the sinks, which count where
// they are.
type StageTime struct {
	Stage   string // as Explain names it, or one of the names below
	Elapsed time.Duration
}

// attributeStage waits for the turn of a recording in its batch, which does not count.
const attributeStage = "attribute"

// What takes time beside the stages.
const (
	identifyStage = "identify" // finding out what the content of the files is, while the recording is opened
	eventsStage   = "events"   // waiting for batches of events from the decoder
	writeStage    = "write"    // an equal part of completing and committing the files of the batch
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
