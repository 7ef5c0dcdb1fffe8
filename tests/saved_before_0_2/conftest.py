"""Settings of these tests."""

# It imports what there was before 0.2.0, and pytest would import it to look for doctests.
collect_ignore = ["make_files.py"]
