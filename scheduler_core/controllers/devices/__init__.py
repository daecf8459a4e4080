"""Claims for devices: made of templates, reserved and released; and pods that leave devices out of order."""
