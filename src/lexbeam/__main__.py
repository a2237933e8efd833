"""Lets ``python -m lexbeam`` stand for the command ``lexbeam``."""

from lexbeam.cli import main

main(prog_name="lexbeam")
