package main

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"stackmill/internal/crash"
	"stackmill/internal/terminal"
	"stackmill/pipeline"
)

// progressBar shows on a terminal what an ingest has done so far.
type progressBar struct {
	bar        *progressbar.ProgressBar
	p          *pipeline.Progress
	start      time.Time
	quit, done chan struct{}
}

// newProgressBar starts a bar on w, or returns nil if w is not a terminal.
func newProgressBar(w io.Writer, p *pipeline.Progress) *progressBar {
	if !terminal.Is(w) {
		return nil
	}
	b := &progressBar{
		bar: progressbar.NewOptions64(-1, progressbar.OptionSetWriter(w), progressbar.OptionShowBytes(true),
			progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(20)),
		p: p, start: time.Now(), quit: make(chan struct{}), done: make(chan struct{}),
	}
	go func() { _ = crash.Catch(b.run) }() // nothing depends on the bar
	return b
}

func (b *progressBar) run() error {
	defer close(b.done)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			b.show()
		case <-b.quit:
			return b.bar.Finish()
		}
	}
}

func (b *progressBar) show() {
	rate := float64(b.p.Samples.Load()) / time.Since(b.start).Seconds()
	b.bar.Describe(fmt.Sprintf("%d/%d experiments, %.0f k samples/s, %d problems",
		b.p.Finished.Load(), b.p.Experiments.Load(), rate/1e3, b.p.Problems.Load()))
	if total := b.p.TotalBytes.Load(); total > 0 {
		b.bar.ChangeMax64(total)
	}
	_ = b.bar.Set64(b.p.Bytes.Load()) // nothing depends on the terminal
}

func (b *progressBar) stop() {
	close(b.quit)
	<-b.done
}
