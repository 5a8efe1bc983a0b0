"""Native plans: functions whose operations mean the same in Spark become Spark expressions."""
