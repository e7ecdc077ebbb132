"""Map file: what brings new vectors of a language into the space, as one file without muse.

.safetensors  `weight` (k, d) and a mean (d,) for each centring: `mean.0` and so on; the metadata have `steps`
              (such as unit,centre,unit), `language`, `pivot` and `version`. Rows x are normalised step by
              step, multiplied, x W^T, and scaled to unit length. A map into a store (`into`) also has
              `shift.0` and so on, (k,): each is added, and the rows are scaled to unit length again. It may
              have hidden units, `hidden.inner` U (h, d), `hidden.bias` b (h,) and `hidden.outer` V (k, h):
              then V max(U x + b, 0) is added to the product.
.onnx         the same as a graph, from `vectors` (n, d) to `mapped` (n, k), float32.

A row of zeros, which points nowhere, stays one.
"""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from muse.alignment import HiddenLayer
from muse.errors import BadFile
from muse.files.writing import check_place, replaced
from muse.installation import __version__
from muse.normalise import SMALL
from muse.optional import library
from muse.space import Space
from muse.space.store_projection import ToStore, store_map
from muse.vectors import Matrix

FORMS = (".safetensors", ".onnx")
OPSET = 17  # of ONNX: operators of 2022, which every runtime in use has


@dataclass(frozen=True, eq=False)
class PortableMap:
    """The map of a language: steps of normalisation, a mean (d,) for each "centre", and weights (k, d).

    `shifts` (k,) bring rows among those of a store, `into`, which did not change
    (`muse.space.store_projection`); there `hidden` units may add to the product.
    """

    language: str
    pivot: str
    steps: tuple[str, ...]
    means: tuple[Matrix, ...]
    weight: Matrix
    shifts: tuple[Matrix, ...] = ()
    into: str = ""
    hidden: HiddenLayer | None = None

    @classmethod
    def of(cls, space: Space, language: str, into: str | None = None) -> "PortableMap":
        """The map of a language, into the space or `into` a store; BadSetting for an unknown language."""
        side, hidden, shifts = space.side(language), None, tuple[Matrix, ...]()
        weight = np.asarray(side.mapping)
        if into is not None:
            back, own = ToStore.of(space, into), store_map(space, language, into)
            if own is None:
                weight = (back.mapping.T.astype(np.float64) @ weight).astype(np.float32)
            else:
                weight, hidden = np.asarray(own.weight), own.hidden
            shifts = back.shifts
        steps = side.normalisation
        return cls(language, space.pivot, tuple(steps.steps), steps.means, weight, shifts, into or "", hidden)

    @property
    def metadata(self) -> dict[str, str]:
        """What a file says of itself."""
        return {
            "language": self.language, "pivot": self.pivot, "steps": ",".join(self.steps),
            "version": f"muse {__version__}", **({"into": self.into} if self.into else {}),
        }  # fmt: skip

    def as_json(self) -> dict[str, Any]:
        """The fields of `muse export --json`."""
        k, d = self.weight.shape
        more = {"into": self.into} if self.into else {}
        return {"language": self.language, "from": d, "to": k, "steps": list(self.steps), **more}


def export_map(space: Space, out: Path, language: str, into: str | None = None) -> PortableMap:
    """The map of a language, perhaps into a store, which is written to a .safetensors or .onnx file.

    Raise BadSetting for an unknown language, BadFile for another name, MissingExtra without the package.
    """
    if out.suffix not in FORMS:
        raise BadFile(f"{out}: a map is a {' or '.join(FORMS)} file; choose such a name as --out")
    check_place(out)
    found = PortableMap.of(space, language, into)
    content = _as_onnx(found) if out.suffix == ".onnx" else _as_safetensors(found)
    with replaced(out) as stream:
        stream.write(content)
    return found


def _as_safetensors(found: PortableMap) -> bytes:
    save = library("safetensors.numpy", "a .safetensors file", "exchange").save
    tensors = {f"mean.{place}": mean for place, mean in enumerate(found.means)} | {"weight": found.weight}
    tensors |= {f"shift.{place}": shift for place, shift in enumerate(found.shifts)}
    if found.hidden is not None:
        tensors |= {f"hidden.{one.name}": getattr(found.hidden, one.name) for one in fields(found.hidden)}
    return bytes(
        save({name: np.ascontiguousarray(one, "<f4") for name, one in tensors.items()}, found.metadata)
    )


def _as_onnx(found: PortableMap) -> bytes:
    """The graph: division by the length, subtraction of a mean, and a product, in the order of the steps."""
    onnx = library("onnx", "an .onnx file", "exchange")
    helper, nodes, rows = onnx.helper, list[Any](), "vectors"
    constants = {"least": np.array([SMALL], np.float32), "weight": found.weight.T}

    def add(operation: str, *inputs: str, **attributes: Any) -> str:
        # The name of what the operation gives, which is that of its place.
        nodes.append(helper.make_node(operation, [*inputs], [f"{operation}.{len(nodes)}"], **attributes))
        return f"{operation}.{len(nodes) - 1}"

    if found.hidden is not None:
        constants |= {one.name: getattr(found.hidden, one.name).T for one in fields(found.hidden)}
    means, shifts = iter(found.means), iter(found.shifts)
    for step in (*found.steps, "map", "unit", *("shift", "unit") * len(found.shifts)):
        if step == "unit":  # rows of zeros stay
            length = add("ReduceL2", rows, axes=[1], keepdims=1)
            rows = add("Div", rows, add("Max", length, "least"))
        elif step == "map":
            product = add("MatMul", rows, "weight")
            if found.hidden is not None:
                inputs = add("Add", add("MatMul", rows, "inner"), "bias")
                product = add("Add", product, add("MatMul", add("Relu", inputs), "outer"))
            rows = product
        else:
            constants[name := f"{step}.{len(nodes)}"] = next(means if step == "centre" else shifts)
            rows = add("Sub" if step == "centre" else "Add", rows, name)
    # A row of zeros stays one: what the means made of it is taken out again.
    known = add("Sign", add("ReduceL2", "vectors", axes=[1], keepdims=1))
    nodes.append(helper.make_node("Mul", [rows, known], ["mapped"]))
    k, d = found.weight.shape
    ends = [
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["rows", width])
        for name, width in (("vectors", d), ("mapped", k))
    ]
    kept = [
        onnx.numpy_helper.from_array(np.ascontiguousarray(one, np.float32), name)
        for name, one in constants.items()
    ]
    made = helper.make_graph(nodes, f"map of {found.language}", ends[:1], ends[1:], kept)
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="muse")
    model.ir_version = 8  # that of the operators: later ones are refused by older runtimes
    helper.set_model_props(model, found.metadata)
    return bytes(model.SerializeToString())
