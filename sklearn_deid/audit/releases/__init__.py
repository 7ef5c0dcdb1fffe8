"""What an audit attacks: vectors, text, models and updates, one kind of release a file."""

__all__: list[str] = []
