//go:build !cgo

package result

import "fmt"

func plainOfEngine(v any) any { return fmt.Sprint(v) }
