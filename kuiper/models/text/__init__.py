"""Language models: what turns text into tokens and back, and how the next token is chosen."""
