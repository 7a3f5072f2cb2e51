//go:build cgo

package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// probabilityVar adds a flag that takes a percentage above 0 and below 100%.
func probabilityVar(f *pflag.FlagSet, to *float64, name, usage string) {
	f.Var((*percentage)(to), name, usage)
	checkValue(f, name, func() error {
		if *to <= 0 || *to >= 1 {
			return fmt.Errorf("%v is not between 0%% and 100%%", (*percentage)(to))
		}
		return nil
	})
}

// shareVar adds a flag that takes a percentage that is not negative.
func shareVar(f *pflag.FlagSet, to *float64, name, usage string) {
	f.Var((*percentage)(to), name, usage)
	checkValue(f, name, func() error {
		if *to < 0 {
			return fmt.Errorf("%v is less than 0%%", (*percentage)(to))
		}
		return nil
	})
}

// percentage is the value of a flag that accepts 3% or 0.03.
type percentage float64

func (f *percentage) String() string { return strconv.FormatFloat(100*float64(*f), 'g', 6, 64) + "%" }
func (f *percentage) Type() string   { return "PERCENT" }

func (f *percentage) Set(text string) error {
	digits, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return valueError{fmt.Errorf("%q is not a percentage (write 3%% or 0.03)", text)}
	}
	if percent {
		v /= 100
	}
	*f = percentage(v)
	return nil
}
