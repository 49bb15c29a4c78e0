"""Files and names in and out: JSON, tables, whole files."""
