"""The coding agent: what the model may do in a workspace, and who allows it."""
