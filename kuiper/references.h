/* Reference counts by Python's functions in place of its inline ones, for the C code that Cython writes.

   That code counts in thousands of places, most of them in constructors and on the way of an error. An inline decrement is
   a branch and a call, and it needs another branch where the object may be missing; a function is one call, which takes gcc
   less time to compile. setup.py lets the modules of steps begin with this file: they count when a step is made, and never
   when it runs. */
#ifndef KUIPER_REFERENCES_H
#define KUIPER_REFERENCES_H

#ifndef PY_SSIZE_T_CLEAN
#define PY_SSIZE_T_CLEAN
#endif
#include <Python.h>

#undef Py_INCREF
#undef Py_XINCREF
#undef Py_DECREF
#undef Py_XDECREF
#define Py_INCREF(object) Py_IncRef((PyObject *)(object))
#define Py_XINCREF(object) Py_IncRef((PyObject *)(object))
#define Py_DECREF(object) Py_DecRef((PyObject *)(object))
#define Py_XDECREF(object) Py_DecRef((PyObject *)(object))

#endif
