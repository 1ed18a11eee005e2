"""Intervals, tests, calibration, and figures that several rooms count with."""
