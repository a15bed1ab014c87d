package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/flow-agents/flow-agents/generators/style"
)

func fmtCommand() *cobra.Command {
	var check bool
	cmd := &cobra.Command{
		Use:   "fmt",
		Short: "Format the CUE and jsonnet sources of the checkout",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			src, err := findSource()
			if err != nil {
				return err
			}
			if src.root == "" {
				return fmt.Errorf("not in a checkout of flow-agents: nothing to format")
			}
			set, err := style.Unformatted(src.fsys)
			if err != nil {
				return err
			}
			for _, f := range set {
				fmt.Println(src.show(f.Path))
				if check {
					continue
				}
				if err := os.WriteFile(filepath.Join(src.root, filepath.FromSlash(f.Path)), f.Data, 0o644); err != nil {
					return err
				}
			}
			if check && len(set) > 0 {
				fmt.Fprintln(os.Stderr, "not formatted; to fix: go run ./cmd/build-bundles fmt")
				return errFailed
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "change nothing; exit 1 if a file is not formatted")
	return cmd
}
