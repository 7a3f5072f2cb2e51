package html

import (
	"fmt"
	"html/template"
	"math"
)

// The size of the drawing of an interval, in pixels.
const drawingWidth, drawingHeight = 120, 16

// Limits of the change at the ends of the scale of a column of intervals.
const smallestScale, largestScale = 0.02, 1

// intervalScale returns the change at the ends of the scale of a column of intervals.
func intervalScale(rows []Row, column int) float64 {
	scale := smallestScale
	for _, r := range rows {
		if column >= len(r.Cells) || r.Cells[column].Interval == nil {
			continue
		}
		for _, v := range []float64{r.Cells[column].Interval.Low, r.Cells[column].Interval.Change, r.Cells[column].Interval.High} {
			if a := math.Abs(v); !math.IsNaN(a) {
				scale = max(scale, min(a, largestScale))
			}
		}
	}
	return scale
}

// drawing draws the interval. No change is in the middle, and changes that count as none are shaded. An interval that
// exceeds the scale ends in an arrow.
func (i *Interval) drawing(scale, equal float64) template.HTML {
	x := func(v float64) float64 {
		return drawingWidth/2 + (drawingWidth/2-6)*min(max(v/scale, -1), 1)
	}
	const middle = drawingHeight / 2
	out := fmt.Sprintf(`<svg width="%d" height="%d" viewBox="0 0 %d %d" aria-hidden="true">`, drawingWidth, drawingHeight, drawingWidth, drawingHeight)
	out += fmt.Sprintf(`<rect class="equal" x="%.1f" y="0" width="%.1f" height="%d"/>`, x(-equal), x(equal)-x(-equal), drawingHeight)
	out += fmt.Sprintf(`<path class="zero" d="M%d 0V%d"/>`, drawingWidth/2, drawingHeight)
	low, high := i.Low, i.High
	if math.IsNaN(low) || math.IsNaN(high) {
		low, high = i.Change, i.Change
	}
	out += fmt.Sprintf(`<path class="range" d="M%.1f %d H%.1f"/>`, x(low), middle, x(high))
	if low < -scale {
		out += fmt.Sprintf(`<path class="range" d="M7 %dL2 %d L7 %d"/>`, middle-4, middle, middle+4)
	}
	if high > scale {
		out += fmt.Sprintf(`<path class="range" d="M%d %dL%d %d L%d %d"/>`, drawingWidth-7, middle-4, drawingWidth-2, middle, drawingWidth-7, middle+4)
	}
	if !math.IsNaN(i.Change) {
		out += fmt.Sprintf(`<circle cx="%.1f" cy="%d" r="3.5"/>`, x(i.Change), middle)
	}
	return template.HTML(out + "</svg>")
}
