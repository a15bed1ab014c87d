package main

import (
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
			_, d, err := describe(nil, nil)
			if err != nil {
				return err
			}
			set, err := jsonschema.Emit(d.Schema)
			if err != nil {
				return err
			}
			return put(set, out)
		},
	}
	cmd.Flags().StringVar(&out, "out", "dist", "folder to write to")
	return cmd
}
