"""Live sessions in the web process: who watches, what changes them, what drives them."""
