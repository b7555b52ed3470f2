// Command tools writes a module of Go into a folder, in the layout of a file proxy: GOPROXY=file://FOLDER serves it.
//
//	tools MODULE VERSION SOURCE FOLDER
//
// The same sources make the same bytes, on every machine and at every time. A folder below SOURCE with a go.mod of its
// own is another module, and not part of it.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

func main() {
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: tools MODULE VERSION SOURCE FOLDER")
		os.Exit(2)
	}
	version := module.Version{Path: os.Args[1], Version: os.Args[2]}
	if err := write(version, os.Args[3], os.Args[4]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// write makes the four files that a proxy answers with.
func write(version module.Version, source, folder string) error {
	escaped, err := module.EscapePath(version.Path)
	if err != nil {
		return err
	}
	target := filepath.Join(folder, filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(target, 0o755); err != nil {
		return err
	}
	definition, err := os.ReadFile(filepath.Join(source, "go.mod"))
	if err != nil {
		return err
	}
	files := map[string][]byte{
		"list":                    []byte(version.Version + "\n"),
		version.Version + ".info": fmt.Appendf(nil, "{\"Version\":%q}\n", version.Version),
		version.Version + ".mod":  definition,
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(target, name), content, 0o644); err != nil {
			return err
		}
	}
	archive, err := os.Create(filepath.Join(target, version.Version+".zip"))
	if err != nil {
		return err
	}
	if err := zip.CreateFromDir(archive, version, source); err != nil {
		return err
	}
	return archive.Close()
}
