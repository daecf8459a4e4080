"""What a person at the page waits for, measured in a real Chromium: `python -m benchmarks.browser`."""
