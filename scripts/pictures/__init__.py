"""What the pictures show: sessions made by commands over HTTP, each at a step that is found by what happened there."""
