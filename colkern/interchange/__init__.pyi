# The public names, for type checkers and for `late_names`, which imports each when it is first used.

from colkern.interchange.arrays import (
    export_array as export_array,
    export_batch as export_batch,
)
from colkern.interchange.device_arrays import (
    export_device_array as export_device_array,
    export_device_batch as export_device_batch,
    export_device_stream as export_device_stream,
)
from colkern.interchange.importing import (
    import_array as import_array,
    import_batch as import_batch,
    import_columns as import_columns,
    import_stream as import_stream,
)
from colkern.interchange.schemas import (
    export_schema as export_schema,
    import_field as import_field,
    import_schema as import_schema,
    import_type as import_type,
)
from colkern.interchange.streams import (
    export_chunks as export_chunks,
    export_stream as export_stream,
)
from colkern.interchange.tensors import (
    cuda_array_interface as cuda_array_interface,
    export_tensor as export_tensor,
    from_cuda_array as from_cuda_array,
    from_dlpack as from_dlpack,
)
