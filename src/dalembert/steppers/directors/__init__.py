"""Methods in director coordinates."""
