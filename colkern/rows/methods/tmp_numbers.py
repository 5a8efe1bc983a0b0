from colkern.rows.methods import Method
from colkern.kernels import row_numbers as rn
METHODS=[
 Method("+","(int, int) -> int","({0} + {1})",check="sum_overflows({0}, {1})"),
 Method("-","(int, int) -> int","({0} - {1})",check="difference_overflows({0}, {1})"),
 Method("*","(int, int) -> int","({0} * {1})",check="product_overflows({0}, {1})"),
 Method("+","(float, float) -> float","({0} + {1})"),
 Method("-","(float, float) -> float","({0} - {1})"),
 Method("*","(float, float) -> float","({0} * {1})"),
 Method("<","(float, float) -> bool","({0} < {1})"),
 Method("==","(int, int) -> bool","({0} == {1})"),
 Method("<","(int, int) -> bool","({0} < {1})"),
 Method(">","(int, int) -> bool","({0} > {1})"),
]
METHODS += [Method("//","(int, int) -> int",rn.floor_divide_integers), Method("neg","(int) -> int","(-{0})",check="{0} == -9223372036854775808"),Method("%","(int, int) -> int",rn.modulo_integers),Method("/","(float, float) -> float",rn.divide_floats)]
