"""Failures of relative attention that were reported in public, played on a model's own numbers: wrong beside right.

A `Scene` is what one head's scores come from. An `Exhibit` sets the scene in which a failure shows, breaks it with what
the core has anyway (a shift, a reading, a mask rule), and measures what that did. Nothing here computes a score.
"""

from relxl.museum.exhibits import EXHIBITS, GROUPS, Exhibit, of_class
from relxl.museum.scene import Scene, lacking, scene_of

__all__ = ["EXHIBITS", "GROUPS", "Exhibit", "Scene", "lacking", "of_class", "scene_of"]
