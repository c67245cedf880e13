"""Pictures of machines in space with light and shadow, for papers and films, by PyVista without a screen."""

from dalembert.view.render.still import picture_trajectory

__all__ = ["picture_trajectory"]
