"""What people would use instead, measured beside Simu-Verse on the same texts with the same vectors.

Each peer is one file with a class ``Opened``, see :class:`benchmarks.peers.peer.Peer`. ``make peers`` installs them in
an environment of their own; ``python -m benchmarks.peers.run`` measures.
"""
