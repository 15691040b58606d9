"""What is in this file?"""

from relxl import ui
from relxl.ui import library

look = ui.weights_page("checkpoint")
library.upload_box()
ui.finish(look)
