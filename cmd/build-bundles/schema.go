package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/flow-agents/flow-agents/generators/jsonschema"
)

func schemaCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "schema",
		Short: "Write the JSON Schemas of manifests, records and bundle.json",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			src, err := findSource()
			if err != nil {
				return err
			}
			d, err := src.load(nil, nil)
			if err != nil {
				return report(err)
			}
			set, err := jsonschema.Emit(d.Schema)
			if err != nil {
				return err
			}
			if err := set.Write(out, func(string) bool { return true }); err != nil {
				return err
			}
			for _, f := range set {
				fmt.Println(filepath.Join(out, filepath.FromSlash(f.Path)))
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&out, "out", "dist", "folder to write to")
	return cmd
}
