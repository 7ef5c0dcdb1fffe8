"""HTTP service for other programs, in the forms of Presidio (extra ``serve``).

Import `app.make_app` from its own module, because FastAPI must be installed.
"""
