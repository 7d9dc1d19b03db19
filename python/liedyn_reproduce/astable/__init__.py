"""Zhang, Zhang, Zanoni, Masarati: Performance of implicit A-stable time integration methods."""

SUBJECTS = ("linear", "squeezer", "flexible")
"""The modules with figures, in the order of the listing."""
