"""The directive ``command-help``: what ``sklearn-deid COMMAND --help`` prints, so that the page cannot be outdated."""

import argparse
import os

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from sklearn_deid.cli.program import build_parser


def _subparser(parser, name):
    """The parser of a command, or of a command of a command."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return action.choices[name]
    raise KeyError(name)


class CommandHelp(SphinxDirective):
    """``command-help:: federate site``; without arguments the program itself."""

    optional_arguments = 3

    def run(self):
        os.environ["COLUMNS"] = "100"  # argparse folds lines at the width of the terminal
        parser = build_parser()
        for name in self.arguments:
            parser = _subparser(parser, name)
        text = parser.format_help()
        block = nodes.literal_block(text, text)
        block["language"] = "text"
        return [block]


def setup(app):
    app.add_directive("command-help", CommandHelp)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
