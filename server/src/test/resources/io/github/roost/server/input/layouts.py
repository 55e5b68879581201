"""Writes layouts.hdf5.gz, in the format that h5py writes if it is not told, with layouts and data sets that must be refused, and
latest.hdf5.gz, with every layout and element type, in the format of version 1.14, and files that must be refused for one data
set. HdfLayoutsTest knows the rows. Needs h5py and numpy;
writes to the folder it is in."""
import gzip
import os
import zlib
import h5py
import numpy as np

ROWS, COLUMNS = 19, 6
os.chdir(os.path.dirname(os.path.abspath(__file__)))
grid = (np.arange(ROWS)[:, None] * 7919 + np.arange(COLUMNS) * 104729) % 251
numbers = grid - 125
floats = (numbers / 8).astype("f4")
# Cannot be compressed: LZF stores such a chunk as it is.
noise = (np.arange(ROWS * COLUMNS, dtype="u4").reshape(ROWS, COLUMNS) * np.uint32(2654435761) >> 8).astype("f4")

LAYOUTS = {
    "contiguous": {},
    "row chunks": dict(chunks=(8, COLUMNS)),
    "column chunks": dict(chunks=(ROWS, 4)),
    "chunks": dict(chunks=(8, 4)),
    "one chunk": dict(chunks=(ROWS, COLUMNS)),
    "single rows": dict(chunks=(1, COLUMNS)),
    "gzip": dict(chunks=(8, 4), compression="gzip"),
    "lzf": dict(chunks=(16, 4), compression="lzf"),
    "shuffle": dict(chunks=(8, 4), compression="gzip", shuffle=True),
    "shuffle and lzf": dict(chunks=(16, 4), compression="lzf", shuffle=True),
    "fletcher32": dict(chunks=(8, 4), fletcher32=True),
    "all filters": dict(chunks=(16, 4), compression="gzip", shuffle=True, fletcher32=True),
    "shuffle and fletcher32": dict(chunks=(8, 4), shuffle=True, fletcher32=True),
    "lzf and fletcher32": dict(chunks=(16, 4), compression="lzf", fletcher32=True),
    "growing": dict(chunks=(8, 4), maxshape=(None, COLUMNS)),
    "growing in both": dict(chunks=(8, 4), maxshape=(None, None), compression="gzip"),
    "more rows": dict(chunks=(8, 4), maxshape=(2 * ROWS, COLUMNS)),
}
# To be refused in the newer format.
MORE_COLUMNS = {
    "more columns": dict(chunks=(8, 4), maxshape=(ROWS, 3 * COLUMNS)),
    "more of both": dict(chunks=(8, 4), maxshape=(2 * ROWS, 3 * COLUMNS), compression="gzip"),
    "growing columns": dict(chunks=(8, 4), maxshape=(ROWS, None)),
    "growing, more columns": dict(chunks=(8, 4), maxshape=(None, 3 * COLUMNS), compression="gzip"),
}
# Each with another index of chunks in the newer format.
MASKED = {
    "masked": dict(chunks=(4, 4)),
    "masked, one chunk": dict(chunks=(ROWS, COLUMNS)),
    "masked, growing": dict(chunks=(1, 4), maxshape=(None, COLUMNS)),
    "masked, growing in both": dict(chunks=(4, 4), maxshape=(None, None)),
}


def compact(file, name, data):
    how = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    how.set_layout(h5py.h5d.COMPACT)
    space = h5py.h5s.create_simple(data.shape)
    data_set = h5py.h5d.create(file.id, name.encode(), h5py.h5t.py_create(data.dtype), space, how)
    data_set.write(h5py.h5s.ALL, h5py.h5s.ALL, np.ascontiguousarray(data))


def masked(file, name, layout):
    """Chunks that have gone through both filters, the second, the first or none; a single chunk through the second."""
    data_set = file.create_dataset(name, floats.shape, "f4", shuffle=True, compression="gzip", **layout)
    rows, columns = data_set.chunks
    places = [(row, column) for row in range(0, ROWS, rows) for column in range(0, COLUMNS, columns)]
    for number, (row, column) in enumerate(places):
        part = floats[row : row + rows, column : column + columns]
        chunk = np.zeros((rows, columns), "f4")
        chunk[: part.shape[0], : part.shape[1]] = part
        mask = 1 if len(places) == 1 else number % 4
        content = chunk.tobytes()
        if not mask & 1:
            content = np.frombuffer(content, "u1").reshape(-1, 4).T.tobytes()
        if not mask & 2:
            content = zlib.compress(content)
        data_set.id.write_direct_chunk((row, column), content, filter_mask=mask)


def early(file, name, most):
    how = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    how.set_chunk((8, 4))
    how.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    space = h5py.h5s.create_simple((ROWS, COLUMNS), most)
    data_set = h5py.h5d.create(file.id, name.encode(), h5py.h5t.IEEE_F32LE, space, how)
    data_set.write(h5py.h5s.ALL, h5py.h5s.ALL, floats)


def write_layouts(file, names):
    for name in names:
        file.create_dataset(name, data=floats, **LAYOUTS[name])
    for name in MORE_COLUMNS:
        file.create_dataset(name, data=floats, **MORE_COLUMNS[name])
    for name in MASKED:
        masked(file, name, MASKED[name])
    compact(file, "compact", floats)
    # Chunks of the rows from 16 on, the last columns, and all of a data set that were never written.
    partly = file.create_dataset("partly written", (ROWS, COLUMNS), "f4", chunks=(8, 4), fillvalue=-3.5)
    partly[:16, :4] = floats[:16, :4]
    file.create_dataset("never written", (ROWS, COLUMNS), "f4", chunks=(8, 4))
    file.create_dataset("never written, contiguous", (ROWS, COLUMNS), "f4", fillvalue=2.25)
    file["soft link"] = h5py.SoftLink("/contiguous")
    file["link to a link"] = h5py.SoftLink("/soft link")


# In this format an index of chunks takes 2,500 bytes.
with h5py.File("layouts.hdf5", "w", userblock_size=512) as file:
    write_layouts(file, ["contiguous", "row chunks", "column chunks", "chunks", "gzip", "all filters", "growing"])
    file.create_dataset("one row", data=floats[:1])
    # To be refused.
    file.create_dataset("no rows", (0, COLUMNS), "f4", chunks=(8, COLUMNS), maxshape=(None, COLUMNS))
    file.create_dataset("nothing", data=h5py.Empty("f4"))
    file.create_dataset("text", data=np.array([["a", "b"]], dtype="S1"))
    file.create_dataset("truths", data=np.zeros((2, 2), "?"))
    file.create_dataset("list", data=floats[0])
    file.create_dataset("cube", data=floats[None])
    file.create_dataset("scale and offset", data=numbers.astype("i4"), chunks=(8, 4), scaleoffset=0)
    brain = h5py.h5t.IEEE_F16LE.copy()
    brain.set_fields(15, 7, 8, 0, 7)
    brain.set_ebias(127)
    h5py.h5d.create(file.id, b"bfloat16", brain, h5py.h5s.create_simple((2, 2)))
    file["broken link"] = h5py.SoftLink("/nowhere")
    file["loop"] = h5py.SoftLink("/loop")
    file["external link"] = h5py.ExternalLink("contiguous.hdf5", "/train")
    file["link to an external link"] = h5py.SoftLink("/external link")
    file.create_group("group")
    file.attrs["distance"] = np.array(["angular"], dtype="S7")

with h5py.File("latest.hdf5", "w", libver=("v114", "v114")) as file:
    write_layouts(file, LAYOUTS)
    file.create_dataset("noise, lzf", data=noise, chunks=(16, 4), compression="lzf")
    file.create_dataset("noise, lzf and fletcher32", data=noise, chunks=(16, 4), compression="lzf", fletcher32=True)
    for kind in ("f2", ">f2", ">f4", "f8", ">f8"):
        file.create_dataset(kind, data=floats.astype(kind), chunks=(16, 4))
    file.create_dataset(">f4, contiguous", data=floats.astype(">f4"))
    compact(file, ">f8, compact", floats.astype(">f8"))
    for kind in ("i1", "i2", ">i2", "i4", ">i4", "i8", "u1", "u2", ">u2", "u4", "u8"):
        file.create_dataset(kind, data=(grid if "u" in kind else numbers).astype(kind), chunks=(16, 4))
    file.create_dataset("u1, contiguous", data=grid.astype("u1"))
    file.create_dataset("one row", data=floats[:1], chunks=(8, COLUMNS), maxshape=(None, COLUMNS))
    early(file, "early", (ROWS, COLUMNS))
    early(file, "early, more columns", (ROWS, 3 * COLUMNS))
    file.attrs["distance"] = np.array([b"dot"], dtype=object)

with h5py.File("outside.hdf5", "w") as file:
    file.create_dataset("train", data=floats, external="elsewhere.raw")
os.remove("elsewhere.raw")

with h5py.File("virtual.hdf5", "w") as file:
    layout = h5py.VirtualLayout((ROWS, COLUMNS), "f4")
    layout[:] = h5py.VirtualSource("contiguous.hdf5", "train", (ROWS, COLUMNS))
    file.create_virtual_dataset("train", layout)

with h5py.File("newer.hdf5", "w", libver="latest") as file:
    file.create_dataset("train", data=floats, chunks=(8, 4), compression="gzip")

for name in ("layouts.hdf5", "latest.hdf5", "outside.hdf5", "virtual.hdf5", "newer.hdf5"):
    with open(name, "rb") as whole, open(name + ".gz", "wb") as packed:
        packed.write(gzip.compress(whole.read(), mtime=0))
    os.remove(name)
