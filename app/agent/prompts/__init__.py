"""What the model is told before anything else."""
