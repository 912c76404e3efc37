"""Tests of what stands in."""
