"""HTTP service for other programs, with the request formats of Presidio (extra ``serve``).

Import `app.make_app` from its own module, because FastAPI must be installed.
"""
