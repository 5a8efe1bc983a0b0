# The modules that others need although they import them, for type checkers.

from colkern.rows import calls as calls
from colkern.rows import comparisons as comparisons
from colkern.rows import comprehensions as comprehensions
from colkern.rows import containers as containers
from colkern.rows import enums as enums
from colkern.rows import expressions as expressions
from colkern.rows import formatting as formatting
from colkern.rows import functions as functions
from colkern.rows import invocations as invocations
from colkern.rows import iteration as iteration
from colkern.rows import iterators as iterators
from colkern.rows import json_text as json_text
from colkern.rows import lazy_items as lazy_items
from colkern.rows import literals as literals
from colkern.rows import matches as matches
from colkern.rows import statements as statements
from colkern.rows import zones as zones
