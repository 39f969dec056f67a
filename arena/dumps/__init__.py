"""All games as tables in files of Parquet, which programs of statistics and of learning read."""
