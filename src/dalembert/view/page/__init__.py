"""Self-contained pages (HTML): one file with verdict, replay in space, diagrams, model, and how to repeat the run. No network is needed.

run.py         page of a trajectory            comparison.py   of several methods        study.py   of an ensemble
document.py    the frame of every page         markup.py       text that cannot break out of its place
replay.py      what player.js draws            figures.py      diagrams as SVG that follow the theme
"""
