package runner

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"stackmill/internal/ordered"
	"stackmill/internal/terminal"
	"stackmill/pipeline"
)

// showProgress shows the progress of an ingest until stop is called, if w is a terminal.
func showProgress(w io.Writer, p *pipeline.Progress) (stop func()) {
	if !terminal.Is(w) {
		return func() {}
	}
	bar := progressbar.NewOptions64(-1, progressbar.OptionSetWriter(w), progressbar.OptionShowBytes(true),
		progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(20))
	start, quit := time.Now(), make(chan struct{})
	show := func() {
		rate := float64(p.Samples.Load()) / time.Since(start).Seconds()
		bar.Describe(fmt.Sprintf("%d/%d experiments, %.0f k samples/s, %d problems",
			p.Finished.Load(), p.Experiments.Load(), rate/1e3, p.Problems.Load()))
		if total := p.TotalBytes.Load(); total > 0 {
			bar.ChangeMax64(total)
		}
		_ = bar.Set64(p.Bytes.Load()) // nothing depends on the terminal
	}
	shown := ordered.Start(func() (struct{}, error) {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				show()
			case <-quit:
				return struct{}{}, bar.Finish()
			}
		}
	})
	return func() {
		close(quit)
		_, _ = shown.Wait() // nothing depends on the bar
	}
}
