"""Random problems against independent truths: `scripts/fuzz` and a short share in the tests.

Five kinds, a module each for drawing problems and for checking them: `token` searches against
brute force over every output, `text` translations against a text search of its own, damaged
`models`, the command line (`cli`) under broken pipes, and the `time` that requests take. Nothing
here uses more of the package than what it offers to everyone, and the truths share no code with it.
"""
