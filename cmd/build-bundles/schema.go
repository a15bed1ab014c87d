package main

import (
	"github.com/spf13/cobra"
)

func schemaCommand() *cobra.Command {
	return &cobra.Command{Use: "schema", Short: "Write the JSON Schemas"}
}
