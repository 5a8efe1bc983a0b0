/* A libcuda.so.1 of one device on which nothing runs: host memory stands for the device's.
 *
 * Launches of the real numba-cuda and cuda.core get as far as here. `calls_NAME` counts the calls of a
 * function; of the last launch, `launched` has the grid, the block, the shared bytes, the stream and the first
 * 8 bytes of each of `parameters` parameters. Functions that are not here return CUDA_ERROR_NOT_SUPPORTED.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void *Any;
typedef unsigned long long Address;

#define FUNCTION(name, ...)     \
    unsigned long calls_##name; \
    int name(__VA_ARGS__) {     \
        calls_##name++;
#define SUCCEEDS(name, ...) FUNCTION(name, __VA_ARGS__) return 0; }
#define GIVES(name, value, type, ...) FUNCTION(name, type *out, __VA_ARGS__) *out = (type)(value); return 0; }

#define GIVES0(name, value, type) FUNCTION(name, type *out) *out = (type)(value); return 0; }

static uintptr_t last_handle = 0x1000;
static uintptr_t handle(void) { return last_handle += 16; }
static char context;
static __thread Any current;

SUCCEEDS(cuInit, unsigned flags)
GIVES0(cuDriverGetVersion, 13000, int)
GIVES0(cuDeviceGetCount, 1, int)
GIVES(cuDeviceGet, ordinal, int, int ordinal)
FUNCTION(cuDeviceGetName, char *text, int size, int device) strncpy(text, "silent", size); return 0; }
FUNCTION(cuDeviceGetUuid_v2, char *bytes, int device) memset(bytes, 7, 16); return 0; }
GIVES(cuDeviceTotalMem_v2, 80ull << 30, size_t, int device)
FUNCTION(cuDeviceGetPCIBusId, char *text, int size, int device) strncpy(text, "0000:01:00.0", size); return 0; }
FUNCTION(cuDeviceGetAttribute, int *value, int attribute, int device)
    /* Threads, blocks and shared memory, multiprocessors, capability: those of an H100. */
    static const struct { int attribute, value; } known[] = {
        {1, 1024}, {2, 1024}, {3, 1024}, {4, 64}, {5, 2147483647}, {6, 65535}, {7, 65535}, {8, 49152},
        {10, 32}, {12, 65536}, {16, 132}, {39, 2048}, {75, 9}, {76, 0}, {81, 233472}, {82, 65536},
        {97, 232448}, {106, 32}};
    *value = 1;
    for (unsigned k = 0; k < sizeof known / sizeof *known; k++)
        if (known[k].attribute == attribute) *value = known[k].value;
    return 0;
}
GIVES(cuDevicePrimaryCtxRetain, &context, Any, int device)
SUCCEEDS(cuDevicePrimaryCtxRelease_v2, int device)
SUCCEEDS(cuCtxSynchronize, void)
FUNCTION(cuCtxSetCurrent, Any chosen) current = chosen; return 0; }
FUNCTION(cuCtxPushCurrent_v2, Any chosen) current = chosen; return 0; }
GIVES0(cuCtxGetCurrent, current, Any)
GIVES0(cuCtxPopCurrent_v2, current, Any)
FUNCTION(cuCtxGetDevice, int *device) *device = 0; return current ? 0 : 201; }
GIVES(cuCtxGetDevice_v2, 0, int, Any chosen)
FUNCTION(cuCtxGetId, Any chosen, Address *number) *number = 1; return 0; }
FUNCTION(cuMemGetInfo_v2, size_t *free, size_t *total) *free = *total = 80ull << 30; return 0; }
GIVES(cuMemAlloc_v2, malloc(size), Address, size_t size)
SUCCEEDS(cuMemFree_v2, Address address)
FUNCTION(cuMemcpyHtoD_v2, Address to, Any from, size_t size) memcpy((Any)to, from, size); return 0; }
FUNCTION(cuMemcpyDtoH_v2, Any to, Address from, size_t size) memcpy(to, (Any)from, size); return 0; }
FUNCTION(cuMemcpyHtoDAsync_v2, Address to, Any from, size_t size, Any stream) memcpy((Any)to, from, size); return 0; }
FUNCTION(cuMemcpyDtoHAsync_v2, Any to, Address from, size_t size, Any stream) memcpy(to, (Any)from, size); return 0; }
FUNCTION(cuPointerGetAttribute, Any out, int attribute, Address address)
    /* Any address is one of the device's memory. */
    if (attribute == 3) *(Address *)out = address;
    else *(int *)out = attribute == 2 ? 2 : 0;
    return 0;
}
GIVES(cuStreamCreate, handle(), uintptr_t, unsigned flags)
GIVES(cuStreamCreateWithPriority, handle(), uintptr_t, unsigned flags, int priority)
SUCCEEDS(cuStreamDestroy_v2, Any stream)
SUCCEEDS(cuStreamSynchronize, Any stream)
SUCCEEDS(cuStreamQuery, Any stream)
GIVES(cuEventCreate, handle(), uintptr_t, unsigned flags)
SUCCEEDS(cuEventRecord, Any event, Any stream)
SUCCEEDS(cuEventDestroy_v2, Any event)
/* What is linked is not machine code: nobody runs it. */
FUNCTION(cuLinkCreate_v2, unsigned n, Any options, Any values, uintptr_t *out) *out = handle(); return 0; }
SUCCEEDS(cuLinkAddData_v2, Any state, int type, Any data, size_t size, const char *name, unsigned n, Any options, Any values)
FUNCTION(cuLinkComplete, Any state, const char **out, size_t *size) *out = "silent"; *size = 7; return 0; }
SUCCEEDS(cuLinkDestroy, Any state)
GIVES(cuModuleLoadDataEx, handle(), uintptr_t, Any image, unsigned n, Any options, Any values)
GIVES(cuModuleGetFunction, handle(), uintptr_t, Any module, const char *name)
GIVES(cuLibraryLoadData, handle(), uintptr_t, Any code, Any a, Any b, unsigned n, Any c, Any d, unsigned m)
SUCCEEDS(cuLibraryUnload, Any library)
GIVES(cuLibraryGetKernel, handle(), uintptr_t, Any library, const char *name)
GIVES(cuLibraryGetModule, handle(), uintptr_t, Any library)
GIVES(cuKernelGetFunction, handle(), uintptr_t, Any kernel)
GIVES(cuKernelGetAttribute, 1, int, int attribute, Any kernel, int device)
GIVES(cuFuncGetAttribute, 1, int, int attribute, Any function)
FUNCTION(cuGetErrorName, int code, const char **text) *text = "CUDA_ERROR_SILENT"; return 0; }
FUNCTION(cuGetErrorString, int code, const char **text) *text = "silent"; return 0; }

unsigned parameters;
uint64_t launched[8 + 256];

static int launch(Any stream, const unsigned *grid, Any *values) {
    if (!current) return 201;
    for (int k = 0; k < 7; k++) launched[k] = grid[k];
    launched[7] = (uint64_t)stream;
    for (unsigned k = 0; k < parameters; k++) memcpy(launched + 8 + k, values[k], 8);
    return 0;
}
FUNCTION(cuLaunchKernel, Any function, unsigned a, unsigned b, unsigned c, unsigned x, unsigned y, unsigned z,
         unsigned shared, Any stream, Any *values, Any *extra)
    unsigned grid[] = {a, b, c, x, y, z, shared};
    return launch(stream, grid, values);
}
FUNCTION(cuLaunchKernelEx, unsigned *config, Any function, Any *values, Any *extra)
    return launch(*(Any *)(config + 8), config, values);
}

static int not_supported(void) { return 801; }

int cuGetProcAddress_v2(const char *name, Any *found, int version, uint64_t flags, int *status) {
    static Any self;
    char versioned[256];
    if (!self) self = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    *found = NULL;
    for (int k = 3; k >= 2 && !*found; k--) {
        snprintf(versioned, sizeof versioned, "%s_v%d", name, k);
        *found = dlsym(self, versioned);
    }
    if (!*found) *found = dlsym(self, name);
    if (!*found) *found = (Any)not_supported;
    if (status) *status = 0;
    return 0;
}
int cuGetProcAddress(const char *name, Any *found, int version, uint64_t flags) {
    return cuGetProcAddress_v2(name, found, version, flags, NULL);
}
