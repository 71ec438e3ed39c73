"""What is to run on a machine and how: pure arithmetic on what others found out."""
