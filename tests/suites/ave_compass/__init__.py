"""Tests of the suite ave_compass."""
