"""Live sessions: log, replay, checkpoints, publishing. The only room of the playground that holds a Simulation."""
