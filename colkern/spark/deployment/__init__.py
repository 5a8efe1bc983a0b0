"""Ships colkern and its compiled functions to the executors of a running Spark session."""
