"""The pages: thin views, one module for each part of the product."""
