"""Charts as Plotly figures: plain data, without colours; the browser takes those from the page's tokens."""
