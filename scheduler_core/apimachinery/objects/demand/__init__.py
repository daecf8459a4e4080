"""What pods ask for in total: amounts by resource, and the class that follows from them."""
