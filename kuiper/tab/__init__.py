"""The classroom in a browser's tab: what a page asks a web worker, answered in Python; see ``live/PROTOCOL.md``.

    requests.py       Tab: from the name of a request to its answer
    student_files.py  which files of a course folder are the student's: what a page keeps, and the zip to take home
    cells.py          a lecture's cells, one after the other, and what they show

Nothing here knows JavaScript: answers are numbers, texts, bytes, lists and dictionaries, and the same on any system.
"""
