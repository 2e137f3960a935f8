"""Trained networks of other people, as users find them inside packages, on kuiper: ``make real``."""
