"""What is always in sight: the model, its speed, and how full the context is."""
