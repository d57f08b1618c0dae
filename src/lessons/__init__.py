"""Tested helpers of the book "Positional Encoding, Executed".

Import the module of an idea, for example ``from lessons import sinusoidal``.
Nothing is imported here, so that ``import lessons`` costs nothing.
"""
