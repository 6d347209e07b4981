"""Run directories: written by the runner, read by charts, reports and queries."""
