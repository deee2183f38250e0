"""Sums over all tables of a lake, by Spark, as JSON: the same that bench/fleet.ts asks DuckDB for."""
import json
import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as f

lake, expected = sys.argv[1], json.loads(sys.argv[2])
spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.ui.enabled", "false")
    .config("spark.driver.memory", "2g")
    .config("spark.sql.sources.parallelPartitionDiscovery.threshold", "100000")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("ERROR")
found = {}
for table, columns in expected.items():
    rows = spark.read.option("basePath", lake).parquet(f"{lake}/run=*/rank=*/file=*/{table}.parquet")
    sums = [f.sum(column).alias(column) for column in columns]
    row = rows.agg(f.count("*").alias("rows"), f.countDistinct("run").alias("runs"), *sums).collect()[0]
    found[table] = row.asDict()
print(json.dumps({"spark": spark.version, "sums": found}))
