"""Machines in director coordinates: dense kernels, written to be read. See `dalembert/directors`."""
