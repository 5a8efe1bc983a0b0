"""Getting colkern and its compiled functions to the executors of a running Spark session."""

from colkern.spark.deployment.installing import install
from colkern.spark.deployment.report import Finding, Report

__all__ = ["Finding", "Report", "install"]
