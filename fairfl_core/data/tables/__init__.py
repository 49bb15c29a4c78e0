"""Tables of people: CSV and Parquet files as columns of one kind."""
