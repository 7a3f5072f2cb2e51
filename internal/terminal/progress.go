package terminal

import (
	"io"

	"github.com/schollz/progressbar/v3"
)

// StepProgress shows a bar for each step of some work if w is a terminal; else progress is nil.
func StepProgress(w io.Writer) (progress func(step string, n, total int), done func()) {
	if !Is(w) {
		return nil, func() {}
	}
	bar, current := progressbar.DefaultSilent(0), ""
	return func(step string, n, total int) {
		if step != current {
			current = step
			bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(step), progressbar.OptionClearOnFinish())
		}
		_ = bar.Set(n)
	}, func() { _ = bar.Finish() }
}

// ByteProgress shows a bar that counts bytes if w is a terminal; else progress is nil.
func ByteProgress(w io.Writer, title string) (progress func(n, total int64), done func()) {
	if !Is(w) {
		return nil, func() {}
	}
	bar := progressbar.NewOptions64(1, progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(title), progressbar.OptionShowBytes(true), progressbar.OptionClearOnFinish())
	return func(n, total int64) {
		bar.ChangeMax64(max(total, 1))
		_ = bar.Set64(n)
	}, func() { _ = bar.Finish() }
}
