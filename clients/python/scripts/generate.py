"""Makes the generated files of the package from the contract in `proto/`, and the threaded client from the asyncio one.

    python scripts/generate.py [--check]

With `--check` it changes nothing, and exits with 1 if a file is not current. It needs grpcio-tools and ruff.

- `_generated/contract.py`: the messages of the contract, as a serialized FileDescriptorSet.
- `_generated/models.py`, `decode.py`: a frozen dataclass for each answer, and the function that makes it.
- `_generated/reasons.py`: an exception for each reason of `docs/errors.md`.
- `ops.py`: a function for each condition and operation of transactions.
- `_async/calls.py`: a method for each call of the tables in `contract_tables.py`.
- `_sync/*.py`: the modules of `_async`, without `async` and `await`.
"""

from __future__ import annotations

import base64
import re
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path

import contract_tables as tables
from google.protobuf import descriptor_pb2 as pb

ROOT = Path(__file__).resolve().parents[1]
REPOSITORY = ROOT.parents[1]
PACKAGE = ROOT / "src" / "quoin"
HEADER = "# Made by scripts/generate.py from the contract. Do not edit.\n"
WIDTH = 116
Field = pb.FieldDescriptorProto
SCALARS = {Field.TYPE_STRING: "str", Field.TYPE_BYTES: "bytes", Field.TYPE_BOOL: "bool"}
CODES = {
    "CANCELLED": "the operation was cancelled, or its client is closed",
    "UNKNOWN": "an error that the service does not know",
    "INVALID_ARGUMENT": "the request is wrong",
    "DEADLINE_EXCEEDED": "the deadline has passed",
    "NOT_FOUND": "something does not exist",
    "ALREADY_EXISTS": "something exists already",
    "PERMISSION_DENIED": "the caller lacks a right",
    "RESOURCE_EXHAUSTED": "a limit is reached",
    "FAILED_PRECONDITION": "something is not as the request needs it",
    "ABORTED": "another client was faster",
    "OUT_OF_RANGE": "something is outside of its range",
    "UNIMPLEMENTED": "the member does not serve the method",
    "INTERNAL": "a bug",
    "UNAVAILABLE": "no member can answer now",
    "DATA_LOSS": "data is lost",
    "UNAUTHENTICATED": "there is no valid token",
}


class Contract:
    """The definitions in `proto/`, with their comments."""

    def __init__(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            plain, full = Path(folder) / "plain", Path(folder) / "full"
            proto = REPOSITORY / "proto"
            files = sorted(str(path.relative_to(proto)) for path in proto.glob("coordination/v1/*.proto"))
            files += ["google/rpc/status.proto", "google/rpc/error_details.proto"]
            for out, more in ((plain, []), (full, ["--include_source_info"])):
                command = [sys.executable, "-m", "grpc_tools.protoc", f"--proto_path={proto}", "--include_imports"]
                subprocess.run([*command, f"--descriptor_set_out={out}", *more, *files], check=True)
            self.serialized = plain.read_bytes()
            self.files = pb.FileDescriptorSet.FromString(full.read_bytes()).file
        self.messages: dict[str, pb.DescriptorProto] = {}
        self.enums: dict[str, pb.EnumDescriptorProto] = {}
        self.rpcs: dict[str, pb.MethodDescriptorProto] = {}
        self.comments: dict[str, str] = {}
        for file in self.files:
            if file.package == "coordination.v1":
                self._read(file)

    def _read(self, file: pb.FileDescriptorProto) -> None:
        comments = {tuple(at.path): at.leading_comments.strip() for at in file.source_code_info.location}

        def note(name: str, path: tuple[int, ...]) -> None:
            self.comments[name] = " ".join(comments.get(path, "").split())

        for at, message in enumerate(file.message_type):
            self.messages[message.name] = message
            note(message.name, (4, at))
            for index, field in enumerate(message.field):
                note(f"{message.name}.{field.name}", (4, at, 2, index))
            for enum in message.enum_type:
                self.enums[f"{message.name}.{enum.name}"] = enum
        self.enums |= {enum.name: enum for enum in file.enum_type}
        for at, service in enumerate(file.service):
            for index, rpc in enumerate(service.method):
                self.rpcs[f"{service.name}/{rpc.name}"] = rpc
                note(f"{service.name}/{rpc.name}", (6, at, 2, index))

    def comment(self, name: str) -> str:
        """The comment of `Message`, `Message.field` or `Service/Method` as one paragraph."""
        return self.comments[name]


def local(type_name: str) -> str:
    return type_name.removeprefix(".coordination.v1.")


def snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def docstring(text: str, indent: str) -> str:
    text = text.replace("\\", "\\\\")
    first, *rest = text.split("\n\n")
    lines = textwrap.wrap(first, WIDTH - len(indent) - 3)
    for part in rest:
        lines.append("")
        for line in part.split("\n"):
            lines += textwrap.wrap(line, WIDTH - len(indent), subsequent_indent="  " if line.startswith("-") else "")
    body = "\n".join(f"{indent}{line}".rstrip() for line in lines).lstrip()
    return f'{indent}"""{body}"""' if len(lines) == 1 else f'{indent}"""{body}\n{indent}"""'


def is_map(contract: Contract, field: pb.FieldDescriptorProto) -> bool:
    return (
        field.label == Field.LABEL_REPEATED
        and local(field.type_name).endswith("Entry")
        and (local(field.type_name) not in contract.messages)
    )


def models(contract: Contract) -> tuple[str, str]:
    """The modules `models.py` and `decode.py`."""
    classes = [HEADER + '"""The answers of the service."""\n\nfrom __future__ import annotations\n']
    classes.append("from collections.abc import Mapping\nfrom dataclasses import dataclass, field\n")
    decoders = [HEADER + '"""Makes answers from messages."""\n\nfrom __future__ import annotations\n']
    decoders.append(
        "from typing import Any\n\nfrom quoin._core.wire import required\nfrom quoin._generated import models\n"
    )
    for name, enum in sorted(contract.enums.items()):
        lower = name in tables.LOWER_ENUMS
        values = {v.number: v.name.lower() if lower else v.name for v in enum.value}
        decoders.append(f"_{snake(name.replace('.', ''))} = {values!r}\n")
    seen: set[str] = set()
    variants: list[tuple[str, str]] = [*tables.MODELS.items(), ("KeyValue", "PreviousEntry")]
    for message_name, class_name in variants:
        if class_name in seen:
            continue
        seen.add(class_name)
        doc = tables.DOCS.get(class_name, contract.comment(message_name) or class_name)
        if class_name == "PreviousEntry":
            doc = "A key before a change, or as a transaction has seen it."
        fields = list(_model_fields(contract, message_name, class_name))
        body = "\n".join(
            f"    {name}: {kind}{' = field(repr=False)' if f'{message_name}.{name}' in tables.SECRETS else ''}\n"
            f"{docstring(comment, '    ') if comment else ''}"
            for name, kind, comment, _ in fields
        )
        classes.append(
            f"@dataclass(frozen=True, slots=True)\nclass {class_name}:\n{docstring(doc, '    ')}\n\n{body}\n"
        )
        parameters = (
            "m: Any, omitted: bool = False"
            if any("omitted" in e for *_, e in fields)
            and not any("m.previous_value_omitted" in e or "current_value_omitted" in e for *_, e in fields)
            else "m: Any"
        )
        arguments = ", ".join(f"{name}={expression}" for name, _, _, expression in fields if expression)
        decoders.append(
            f"def {snake(class_name)}({parameters}) -> models.{class_name}:\n    return models.{class_name}({arguments})\n"
        )
    return "\n\n".join(classes), "\n\n".join(decoders)


def _model_fields(
    contract: Contract, message_name: str, class_name: str, at: str = "m"
) -> Iterator[tuple[str, str, str, str]]:
    """Name, type, comment and expression of each field of a dataclass."""
    message = contract.messages[message_name]
    for field in message.field:
        key = f"{message_name}.{field.name}"
        if tables.FLATTENED.get(message_name) == field.name:
            inner = f'required(m, "{field.name}")'
            yield from _model_fields(contract, local(field.type_name), class_name, inner)
            continue
        kind, expression = _field(contract, field, f"{at}.{field.name}", key)
        if class_name == "PreviousEntry" and field.name == "value":
            kind, expression = "bytes | None", "None if omitted else m.value"
        comment = contract.comment(key)
        if class_name == "PreviousEntry" and field.name == "value":
            comment = "None if the service has left the value out of the answer to a retry."
        yield tables.RENAMED.get(key, field.name), kind, comment, expression
    if message_name.startswith("Acquire"):
        comment = "When the hold ends without renewal, on the clock of `time.monotonic()` in milliseconds. None = not acquired."
        yield "deadline_ms", "float | None = None", comment, ""


def _field(contract: Contract, field: pb.FieldDescriptorProto, at: str, key: str) -> tuple[str, str]:
    """Type and expression of a field."""
    if is_map(contract, field):
        return "Mapping[str, int]", f"dict({at})"
    if key in tables.PREVIOUS:
        omitted = tables.PREVIOUS[key]
        if field.label == Field.LABEL_REPEATED:
            return "tuple[PreviousEntry, ...]", f"tuple(previous_entry(x, {omitted}) for x in {at})"
        return "PreviousEntry | None", f'previous_entry({at}, {omitted}) if m.HasField("{field.name}") else None'
    one, expression = _scalar(contract, field, "x" if field.label == Field.LABEL_REPEATED else at)
    if field.label == Field.LABEL_REPEATED:
        plain = field.type not in (Field.TYPE_MESSAGE, Field.TYPE_ENUM)
        return f"tuple[{one}, ...]", f"tuple({at})" if plain else f"tuple({expression} for x in {at})"
    if field.type == Field.TYPE_MESSAGE:
        if key in tables.REQUIRED:
            call = expression.replace(f"({at})", f'(required(m, "{field.name}"))')
            return one, call
        return f"{one} | None", f'{expression} if m.HasField("{field.name}") else None'
    if field.proto3_optional:
        return f"{one} | None", f'{expression} if m.HasField("{field.name}") else None'
    if key in tables.OMITTED:
        return f"{one} | None", f"{expression} if {tables.OMITTED[key]} else None"
    if key in tables.NONE_IF_ZERO or local(field.type_name) in tables.NONE_ENUMS:
        return f"{one} | None", f"{expression} if {at} else None"
    return one, expression


def _scalar(contract: Contract, field: pb.FieldDescriptorProto, at: str) -> tuple[str, str]:
    if field.type == Field.TYPE_MESSAGE:
        name = tables.MODELS[local(field.type_name)]
        return name, f"{snake(name)}({at})"
    if field.type == Field.TYPE_ENUM:
        table = f"_{snake(local(field.type_name).replace('.', ''))}"
        return "str", f"{table}.get({at}, str({at}))"
    return SCALARS.get(field.type, "int"), at


def calls(contract: Contract) -> str:
    """The module `_async/calls.py`."""
    parts = [HEADER + '"""The calls that need no more than their fields."""\n\nfrom __future__ import annotations\n']
    parts.append(
        "from collections.abc import AsyncIterator, Mapping, Sequence\nfrom typing import TYPE_CHECKING\n\n"
        "from quoin import _types as types\nfrom quoin._async.base import AsyncCalls\n"
        "from quoin._generated import decode, models\n\n"
        "if TYPE_CHECKING:\n    from typing_extensions import Unpack\n"
    )
    for name, group in tables.GROUPS.items():
        parts.append(f"class Async{name}Calls(AsyncCalls):\n{docstring(group.doc, '    ')}\n")
        for method in group.methods:
            parts.append(_method(contract, group, method))
    return "\n".join(parts)


def _method(contract: Contract, group: tables.Group, method: tables.Method) -> str:
    path = f"{group.service}/{method.rpc}"
    rpc = contract.rpcs[path]
    request = contract.messages[local(rpc.input_type)]
    result = tables.MODELS[local(rpc.output_type)]
    given, without = method.given.split(), {*method.without.split(), *method.fixed}
    fields = {field.name: field for field in request.field}
    optional = [name for name in fields if name not in given and name not in without]
    parameters = [f"{name}: {_parameter(contract, request, fields[name])}" for name in given]
    keywords = [f"{name}: {_keyword(contract, request, fields[name])}" for name in optional]
    star = ["*", *keywords] if keywords else []
    described = [*given, *optional]
    lines = [f"- `{name}`: {contract.comment(request.name + '.' + name)}" for name in described]
    doc = "\n\n".join([contract.comment(path), "\n".join(lines)]).strip()
    given_dict = "{" + ", ".join(f'"{name}": {name}' for name in given) + "}"
    more = [f'"{name}": {name}' for name in optional] + [f'"{name}": {value!r}' for name, value in method.fixed.items()]
    decoder = f"decode.{snake(result)}"
    lines = [
        f"    async def {method.name}({', '.join(['self', *parameters, *star, '**call: Unpack[types.CallOptions]'])}) -> models.{result}:",
        docstring(doc, "        "),
        f'        return await self._call({decoder}, "{path}", {given_dict}, {{{", ".join(more)}}}, call)',
    ]
    if method.pages:
        page_keywords = [keyword for keyword in keywords if not keyword.startswith("page_token:")]
        star = ["*", *page_keywords]
        passed = [
            *given,
            *(f"{name}={name}" for name in optional if name != "page_token"),
            "page_token=token",
            "**call",
        ]
        lines += [
            f"\n    async def {method.pages}({', '.join(['self', *parameters, *star, '**call: Unpack[types.PartOptions]'])}) -> AsyncIterator[models.{result}]:",
            docstring(
                f"All pages of `{method.name}`, each when it is needed. Every page is a call of its own, with the whole `timeout_ms`, and may have another revision.",
                "        ",
            ),
            '        token: str | None = None\n        while token != "":',
            f"            page = await self.{method.name}({', '.join(passed)})",
            "            yield page\n            token = page.next_page_token",
        ]
    return "\n".join(lines) + "\n"


def _parameter(contract: Contract, request: pb.DescriptorProto, field: pb.FieldDescriptorProto) -> str:
    special = tables.TYPES.get(f"{request.name}.{field.name}")
    if special is not None:
        return f"types.{special}"
    if is_map(contract, field):
        return "Mapping[str, int]"
    name = local(field.type_name)
    if field.type == Field.TYPE_MESSAGE:
        one = {"Guard": "types.Guarding", "Owner": "types.Owner"}.get(name, "Part")
    elif field.type == Field.TYPE_ENUM:
        one = {"ReadConsistency": "types.Consistency", "Compare.Operator": "types.Comparison"}[name]
    else:
        one = {"bytes": "bytes | str"}.get(SCALARS.get(field.type, "int"), SCALARS.get(field.type, "int"))
    return f"Sequence[{one}]" if field.label == Field.LABEL_REPEATED else one


def _keyword(contract: Contract, request: pb.DescriptorProto, field: pb.FieldDescriptorProto) -> str:
    kind = _parameter(contract, request, field)
    return "bool = False" if kind == "bool" else f"{kind} | None = None"


def ops(contract: Contract) -> str:
    """The module `ops.py`."""
    parts = [HEADER + '"""Conditions and operations of transactions."""\n\nfrom __future__ import annotations\n']
    parts.append(
        "from collections.abc import Mapping, Sequence\nfrom typing import Any\n\nfrom quoin import _types as types\n\n"
        "# A condition or an operation, in the form of the contract: `{'put': {'key': 'k', 'value': 'v'}}`.\n"
        "Part = Mapping[str, Any]\n\n\n"
        'def hold(guard: types.Guarding) -> Part:\n    """The hold is live."""\n    return {"hold": guard}\n\n\n'
        'def session(session_id: int) -> Part:\n    """The session with this id is live, of any user."""\n'
        '    return {"session_id": session_id}\n\n\n'
        'def release(guard: types.Guarding) -> Part:\n    """Releases a hold of the caller, after the last operation."""\n'
        '    return {"release": guard}\n'
    )
    for name, (message_name, positional) in tables.PARTS.items():
        message = contract.messages[message_name]
        fields = {field.name: field for field in message.field}
        given = positional.split()
        optional = [field for field in fields if field not in given]
        parameters = [f"{field}: {_parameter(contract, message, fields[field])}" for field in given]
        keywords = [f"{field}: {_parameter(contract, message, fields[field])} | None = None" for field in optional]
        doc = contract.comment(message_name)
        lines = [f"- `{field}`: {contract.comment(f'{message_name}.{field}')}" for field in fields]
        chosen = ", ".join(f'"{field}": {field}' for field in fields)
        parts.append(
            f"def {name}({', '.join([*parameters, *(['*', *keywords] if keywords else [])])}) -> Part:\n"
            + docstring("\n\n".join([doc, "\n".join(lines)]), "    ")
            + f'\n    return {{"{name}": {{{chosen}}}}}\n'
        )
    return "\n\n".join(parts)


def reasons() -> str:
    """The module `reasons.py`."""
    text = (REPOSITORY / "docs" / "errors.md").read_text()
    rows = [
        [cell.strip() for cell in line.strip("| \n").split("|")] for line in text.splitlines() if line.startswith("| `")
    ]
    found = {
        cells[0].strip("`"): (cells[1].strip("`"), cells[-2], cells[-1])
        for cells in rows
        if cells[1].strip("`") in CODES
    }
    parts = [
        HEADER
        + '"""An exception for each code and each reason of `docs/errors.md`."""\n\nfrom __future__ import annotations\n'
    ]
    parts.append("from quoin._core.errors import QuoinError\n")
    named: dict[str, str] = {}
    for code, doc in CODES.items():
        named[code] = class_of(code)
        base = "QuoinError, TimeoutError" if code == "DEADLINE_EXCEEDED" else "QuoinError"
        parts.append(f'class {named[code]}({base}):\n    """{code}: {doc}."""\n')
    by_code = dict(named)
    by_reason: dict[str, str] = {}
    for reason, (code, cause, remedy) in found.items():
        name = class_of(reason)
        by_reason[reason] = name
        if name in by_code.values():
            continue
        doc = f"{code} / {reason}: {plain(cause)}.\n\n{plain(remedy)[0].upper()}{plain(remedy)[1:]}."
        body = ""
        if reason == "COMPACTED":
            body = (
                "\n    @property\n    def compact_revision(self) -> int | None:\n"
                '        """The oldest revision at which a watch can start. None = the service did not say."""\n'
                '        text = self.details.get("compact_revision", "")\n        return int(text) if text.isdecimal() else None\n'
            )
        parts.append(f"class {name}({by_code[code]}):\n{docstring(doc, '    ')}\n{body}")
    parts.append(
        "BY_CODE: dict[str, type[QuoinError]] = {" + ", ".join(f'"{c}": {n}' for c, n in by_code.items()) + "}\n"
    )
    parts.append(
        "BY_REASON: dict[str, type[QuoinError]] = {" + ", ".join(f'"{r}": {n}' for r, n in by_reason.items()) + "}\n"
    )
    exports = sorted({*by_code.values(), *by_reason.values()})
    parts.append("__all__ = " + repr(exports) + "\n")
    return "\n\n".join(parts)


def class_of(word: str) -> str:
    return "".join(part.capitalize() for part in word.split("_")).removesuffix("Error") + "Error"


def plain(markdown: str) -> str:
    return re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", markdown)


THREADED = [
    (r"\bAsyncIo\b", "ThreadIo"),
    (r"\b(_?)Async(?=[A-Z])(?!Iterator|Generator|Iterable)", r"\1"),
    (r"\basync (def|with|for) ", r"\1 "),
    (r"\bawait ", ""),
    (r"\bAwaitable\[(\w+)\]", r"\1"),
    (r"\bAsync(Iterator|Generator|Iterable)\b", r"\1"),
    (r"__a(enter|exit|iter|next)__", r"__\1__"),
    (r"\bStopAsyncIteration\b", "StopIteration"),
    (r"\b_async\b", "_sync"),
    (r"\basyncio_io\b", "threads"),
    (r"asyncio client", "client with threads"),
]


def threaded(source: str) -> str:
    """A module of the asyncio client as one of the client with threads."""
    for pattern, replacement in THREADED:
        source = re.sub(pattern, replacement, source)
    return source if source.startswith(HEADER) else "# Made by scripts/generate.py from _async. Do not edit.\n" + source


def formatted(files: dict[Path, str]) -> dict[Path, str]:
    """The files as ruff formats them, without imports that are not used."""
    with tempfile.TemporaryDirectory() as folder:
        drafts = {path: Path(folder) / path.relative_to(PACKAGE) for path in files}
        for path, draft in drafts.items():
            draft.parent.mkdir(parents=True, exist_ok=True)
            draft.write_text(files[path])
        ruff = [sys.executable, "-m", "ruff"]
        config = ["--config", str(ROOT / "pyproject.toml")]
        subprocess.run([*ruff, "check", *config, "--quiet", "--fix", "--select", "F401,I001", folder], check=True)
        subprocess.run([*ruff, "format", *config, "--quiet", folder], check=True)
        return {path: draft.read_text() for path, draft in drafts.items()}


def main(arguments: list[str]) -> int:
    contract = Contract()
    lines = textwrap.wrap(base64.b64encode(contract.serialized).decode(), WIDTH - 6)
    classes, decoders = models(contract)
    descriptors = (
        HEADER
        + '"""The messages of the contract."""\n\nDESCRIPTORS = (\n'
        + "\n".join(f'    "{line}"' for line in lines)
        + "\n)\n"
    )
    made = {
        PACKAGE / "_generated/contract.py": descriptors,
        PACKAGE / "_generated/models.py": classes,
        PACKAGE / "_generated/decode.py": decoders,
        PACKAGE / "_generated/reasons.py": reasons(),
        PACKAGE / "ops.py": ops(contract),
        PACKAGE / "_async/calls.py": calls(contract),
    }
    sources = {path: path.read_text() for path in sorted((PACKAGE / "_async").glob("*.py")) if path.name != "calls.py"}
    sources[PACKAGE / "_async/calls.py"] = made[PACKAGE / "_async/calls.py"]
    for path, source in sources.items():
        made[PACKAGE / "_sync" / path.name] = threaded(source)
    current = {path: path.read_text() if path.exists() else "" for path in made}
    stale = [path for path, text in formatted(made).items() if text != current[path]]
    superfluous = [path for path in (PACKAGE / "_sync").glob("*.py") if path not in made]
    for path in stale + superfluous:
        print(f"not current: {path.relative_to(ROOT)}" if "--check" in arguments else f"wrote {path.relative_to(ROOT)}")
    if "--check" in arguments:
        return 1 if stale or superfluous else 0
    for path, text in formatted(made).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for path in superfluous:
        path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
