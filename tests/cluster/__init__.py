"""What needs packages that the tests do without: a cluster of Ray's, and NVIDIA's client. ``make cluster`` runs it."""
