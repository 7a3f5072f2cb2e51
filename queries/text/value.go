package text

import (
	"fmt"
	"strconv"

	"stackmill/internal/terminal"
)

// Value formats a metric's value: times as seconds with 3 decimals.
func Value(n int64, unit string) string {
	if unit == "ns" {
		return fmt.Sprintf("%.3f", float64(n)/1e9)
	}
	return strconv.FormatInt(n, 10)
}

// Percent formats n as a percentage of total.
func Percent(n, total int64) string {
	if total == 0 {
		return "0.00"
	}
	return fmt.Sprintf("%.2f", 100*float64(n)/float64(total))
}

// Plural formats a number of things.
func Plural(n int, thing string) string { return terminal.Plural(n, thing) }
