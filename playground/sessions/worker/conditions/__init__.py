"""What is looked for in a history: breakpoints, the conditions of runs, searches, runs in circles."""
