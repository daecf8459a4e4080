"""The pages: thin views, one module for each room of the product."""
