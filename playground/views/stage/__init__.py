"""The stage outside of the studio: in other people's pages, and two of them side by side."""
