/* SPDX-License-Identifier: MIT */
/* _pybuf.Buffer: memory of the C library under Python's buffer protocol. It holds the Python object that owns the memory,
 * so that a numpy array on top of it keeps the owner alive; ffi.buffer() does not. CPython's limited API, 3.11. */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>
#include <stdint.h>

struct buffer {
    PyObject_HEAD void *memory;
    Py_ssize_t bytes;
    int readonly;
    PyObject *owner;
};

static PyObject *buffer_make(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"address", "bytes", "owner", "readonly", NULL};
    unsigned long long address;
    Py_ssize_t bytes;
    PyObject *owner;
    int readonly = 1;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "KnO|p", names, &address, &bytes, &owner, &readonly))
        return NULL;
    if (bytes < 0 || (!address && bytes)) {
        PyErr_SetString(PyExc_ValueError, "a buffer needs an address and a length of 0 or more bytes");
        return NULL;
    }
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    struct buffer *self = (struct buffer *)alloc(type, 0);
    if (!self)
        return NULL;
    self->memory = (void *)(uintptr_t)address;
    self->bytes = bytes;
    self->readonly = readonly;
    self->owner = Py_NewRef(owner);
    return (PyObject *)self;
}

static int buffer_get(PyObject *o, Py_buffer *view, int flags)
{
    struct buffer *self = (struct buffer *)o;
    static char nothing;
    return PyBuffer_FillInfo(view, o, self->memory ? self->memory : &nothing, self->bytes, self->readonly, flags);
}

static int buffer_traverse(PyObject *o, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(o));
    Py_VISIT(((struct buffer *)o)->owner);
    return 0;
}

static int buffer_clear(PyObject *o)
{
    Py_CLEAR(((struct buffer *)o)->owner);
    return 0;
}

static void buffer_free(PyObject *o)
{
    PyTypeObject *type = Py_TYPE(o);
    PyObject_GC_UnTrack(o);
    buffer_clear(o);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(o);
    Py_DECREF(type);
}

static PyType_Slot slots[] = {
    {Py_tp_doc, "Buffer(address, bytes, owner, readonly=True): C memory that keeps its owner alive"},
    {Py_tp_new, buffer_make},
    {Py_tp_dealloc, buffer_free},
    {Py_tp_traverse, buffer_traverse},
    {Py_tp_clear, buffer_clear},
    {Py_bf_getbuffer, buffer_get},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "sated._pybuf.Buffer",
    .basicsize = sizeof(struct buffer),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};

static int module_exec(PyObject *module)
{
    PyObject *type = PyType_FromModuleAndSpec(module, &spec, NULL);
    int rc = type ? PyModule_AddObjectRef(module, "Buffer", type) : -1;
    Py_XDECREF(type);
    return rc;
}

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, module_exec}, {0, NULL}};

static struct PyModuleDef module_def = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_pybuf",
    .m_slots = module_slots,
};

PyMODINIT_FUNC PyInit__pybuf(void)
{
    return PyModuleDef_Init(&module_def);
}
