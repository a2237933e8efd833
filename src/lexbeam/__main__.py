"""Lets ``python -m lexbeam`` stand for the command ``lexbeam``."""

from lexbeam.cli.main import main

main(prog_name="lexbeam")
