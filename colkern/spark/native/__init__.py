"""Native plans: functions whose operations mean the same in Spark become expressions of Spark's own."""
