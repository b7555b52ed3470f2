//go:build unix

package quoin_test

import (
	"os"
	"testing"
)

// suite ends what all tests share, after the last one.
var suite = &shared{}

type shared struct {
	testing.TB
	cleanups []func()
	folders  []string
}

func (s *shared) Helper()                           {}
func (s *shared) Cleanup(end func())                { s.cleanups = append(s.cleanups, end) }
func (s *shared) Fatal(args ...any)                 { panic(args) }
func (s *shared) Fatalf(format string, args ...any) { panic(format) }
func (s *shared) TempDir() string {
	folder, err := os.MkdirTemp("", "quoin-go-")
	if err != nil {
		panic(err)
	}
	s.folders = append(s.folders, folder)
	return folder
}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, end := range suite.cleanups {
		end()
	}
	for _, folder := range suite.folders {
		os.RemoveAll(folder)
	}
	os.Exit(code)
}
