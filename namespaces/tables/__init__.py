"""Tables in files of unknown make: workbooks, encodings, delimiters, header words, numbers and dates.

What is decided here is decided from the whole column. Where two readings fit, nothing is guessed:
the file is refused with both readings and the argument that decides, and what a person then says is
kept for the next file of that account or layout.
"""
