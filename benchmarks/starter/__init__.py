"""Training and measurement of the starter models that the package ships."""
