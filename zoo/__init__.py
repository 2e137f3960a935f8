"""How the bundled models were made: scenes, training and evaluation. No part of the package; needs ``.[train]``."""
