"""Live sessions: log, replay, checkpoints, publishing. The only package of the playground with a Simulation in memory."""
