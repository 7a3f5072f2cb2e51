package pipeline

import "time"

// StageTime is how long a stage took with one recording. What runs beside the stages
// counts where it is waited for.
type StageTime struct {
	Stage   string // as Explain names it, or one of the names below
	Elapsed time.Duration
}

// What takes time beside the stages.
const (
	identifyStage = "identify" // finding out what the content of the files is, while the recording is opened
	eventsStage   = "events"   // waiting for batches of events from the decoder
	writeStage    = "write"    // an equal part of completing and committing the files of the batch
)

// took adds the time since a stage began.
func (r *Result) took(stage string, began time.Time) { r.add(stage, time.Since(began)) }

func (r *Result) add(stage string, elapsed time.Duration) {
	for i := range r.Stages {
		if r.Stages[i].Stage == stage {
			r.Stages[i].Elapsed += elapsed
			return
		}
	}
	r.Stages = append(r.Stages, StageTime{stage, elapsed})
}
