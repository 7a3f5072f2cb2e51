//go:build cgo

package main

import (
	"fmt"
	"strconv"
	"strings"
)

// percentage is the value of a flag that accepts 3% or 0.03.
type percentage float64

func (f *percentage) String() string { return strconv.FormatFloat(100*float64(*f), 'g', 6, 64) + "%" }
func (f *percentage) Type() string   { return "PERCENT" }

func (f *percentage) Set(text string) error {
	digits, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	if err != nil {
		return fmt.Errorf("%q is not a percentage (write 3%% or 0.03)", text)
	}
	if percent {
		v /= 100
	}
	*f = percentage(v)
	return nil
}
