"""Small charts as painted lines: every one has its figures in text beside it."""
