"""The page Compare: options beside the model as it is, the report, files to take along."""
