"""The messages of the contract: requests from arguments, with checks, and the details of errors.

The definitions live in a descriptor pool of their own. So they neither depend on the version of the protobuf compiler,
nor meet the definitions of an application that has generated code from the same files.

This is the only module that touches untyped messages, besides the generated ones.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError, Message

from quoin._core.errors import bad_field, quoin_error

COUNT_MAX = 2**53 - 1
INT32_MAX = 2**31 - 1


@dataclass(frozen=True, slots=True)
class StatusDetails:
    """What `grpc-status-details-bin` says."""

    reason: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    retry_delay_ms: float | None = None


class Contract:
    """The definitions of the contract, and the classes of its messages."""

    def __init__(self, descriptors: str) -> None:
        files = descriptor_pb2.FileDescriptorSet.FromString(base64.b64decode(descriptors))
        self._pool = descriptor_pool.DescriptorPool()
        for file in files.file:
            self._pool.Add(file)
        self._classes: dict[str, type[Message]] = {}
        self._setters: dict[str, dict[str, Callable[[Message, Any, str], None]]] = {}

    def class_of(self, name: str) -> type[Message]:
        """The class of a message by its name, without a package if it is `coordination.v1`."""
        found = self._classes.get(name)
        if found is None:
            full = name if "." in name else f"coordination.v1.{name}"
            found = message_factory.GetMessageClass(self._pool.FindMessageTypeByName(full))
            self._classes[name] = found
        return found

    def types_of(self, method: str) -> tuple[str, type[Message]]:
        """The name of the request and the class of the answer of a method such as `KeyValueService/GetKey`."""
        service, name = method.split("/")
        found = self._pool.FindServiceByName(f"coordination.v1.{service}").methods_by_name[name]
        return found.input_type.name, self.class_of(found.output_type.name)

    def build(
        self, name: str, given: Mapping[str, object], optional: Mapping[str, object] | None = None, path: str = ""
    ) -> Message:
        """A message from arguments. Optional ones that are None are left out.

        Raises INVALID_ARGUMENT / BAD_FIELD, which names the field, for what the message cannot carry exactly.
        """
        message = self.class_of(name)()
        setters = self._setters_of(name, message.DESCRIPTOR)
        for choice in message.DESCRIPTOR.oneofs:
            names = [one.name for one in choice.fields]
            found = [one for one in names if one in given]
            if len(found) != 1 and not choice.name.startswith("_"):
                has = " and ".join(found) or "none"
                raise bad_field(path.rstrip("."), f"must have exactly one of {', '.join(names)}; it has {has}")
        guard = given.get("guard") or (optional or {}).get("guard")
        elsewhere = getattr(getattr(guard, "guard", guard), "namespace", None)
        if elsewhere is not None and "namespace" in given and elsewhere != given["namespace"]:
            raise bad_field("guard", f"is of namespace {elsewhere}, and this is namespace {given['namespace']}")
        for key, value in given.items():
            self._set(setters, message, key, value, path)
        for key, value in (optional or {}).items():
            if value is not None:
                self._set(setters, message, key, value, path)
        return message

    def status_details(self, serialized: str | bytes) -> StatusDetails:
        """Reason, facts and pause of an error. A damaged trailer is ignored: the other trailers have the facts, too."""
        if not isinstance(serialized, bytes) or not serialized:
            return StatusDetails()
        try:
            status: Any = self.class_of("google.rpc.Status").FromString(serialized)
            reason, metadata, delay_ms = "", {}, None
            for detail in status.details:
                kind = detail.type_url.rpartition("/")[2]
                if kind == "google.rpc.ErrorInfo":
                    info: Any = self.class_of(kind).FromString(detail.value)
                    reason, metadata = info.reason, dict(info.metadata)
                elif kind == "google.rpc.RetryInfo":
                    pause: Any = self.class_of(kind).FromString(detail.value)
                    delay_ms = pause.retry_delay.seconds * 1e3 + pause.retry_delay.nanos / 1e6
        except DecodeError:
            return StatusDetails()
        return StatusDetails(reason, metadata, delay_ms)

    @staticmethod
    def _set(setters: Mapping[str, Any], message: Message, key: str, value: object, path: str) -> None:
        if key not in setters:
            raise bad_field(path + key, f"is unknown: there are {', '.join(sorted(setters))}")
        setters[key](message, value, path + key)

    def _setters_of(self, name: str, descriptor: Any) -> dict[str, Callable[[Message, Any, str], None]]:
        found = self._setters.get(name)
        if found is None:
            found = {one.name: self._setter(one) for one in descriptor.fields}
            self._setters[name] = found
        return found

    def _setter(self, one: FieldDescriptor) -> Callable[[Message, Any, str], None]:
        name, nested = one.name, one.message_type
        if nested is not None and nested.GetOptions().map_entry:
            check = _check_of(nested.fields_by_name["value"])
            return lambda message, value, path: getattr(message, name).update(
                {checked_text(key, path): check(item, f"{path}[{key}]") for key, item in dict(value).items()}
            )
        if nested is not None:

            def make(value: Any, path: str) -> Message:
                return self.build(nested.name, fields_of(value, path, nested), path=f"{path}.")

            if _is_repeated(one):
                return lambda message, value, path: getattr(message, name).extend(
                    make(item, f"{path}[{at}]") for at, item in enumerate(checked_list(value, path))
                )
            return lambda message, value, path: getattr(message, name).CopyFrom(make(value, path))
        check = _check_of(one)
        if _is_repeated(one):
            return lambda message, value, path: getattr(message, name).extend(
                check(item, f"{path}[{at}]") for at, item in enumerate(checked_list(value, path))
            )
        return lambda message, value, path: setattr(message, name, check(value, path))


def required(message: Any, name: str) -> Any:
    """A message within an answer that must be there."""
    if not message.HasField(name):
        raise quoin_error(f"the answer has no {name}", code="INTERNAL")
    return getattr(message, name)


def fields_of(value: Any, path: str, descriptor: Any) -> Mapping[str, object]:
    """The fields of a nested message: of a mapping, of a guard, or of anything that has a guard."""
    found = getattr(value, "guard", value)
    known = {one.name for one in descriptor.fields}
    if not isinstance(found, Mapping):
        names = getattr(type(found), "__dataclass_fields__", None)
        if names is None:
            raise bad_field(path, f"cannot be {kind_of(value)}")
        found = {name: getattr(found, name) for name in names}
        found = {name: item for name, item in found.items() if item is not None and name in known}
    return {name: item for name, item in found.items() if item is not None}


def checked_text(value: object, path: str) -> str:
    """A text that UTF-8 can carry."""
    if not isinstance(value, str):
        raise bad_field(path, f"must be a str, not {kind_of(value)}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise bad_field(path, "has a lone surrogate, which UTF-8 cannot carry") from None
    return value


def checked_bytes(value: object, path: str) -> bytes:
    """Bytes unchanged, and text as UTF-8."""
    if isinstance(value, str):
        return checked_text(value, path).encode()
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise bad_field(path, f"must be bytes or a str, not {kind_of(value)}")
    return bytes(value)


def checked_count(value: object, path: str) -> int:
    """A whole number within ±(2^53 - 1)."""
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > COUNT_MAX:
        raise bad_field(path, f"must be a whole number within ±(2^53 - 1), not {number_or_kind(value)}")
    return value


def checked_int32(value: object, path: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not -INT32_MAX - 1 <= value <= INT32_MAX:
        raise bad_field(path, f"must be a whole number of 32 bits, not {number_or_kind(value)}")
    return value


def checked_flag(value: object, path: str) -> bool:
    if not isinstance(value, bool):
        raise bad_field(path, f"must be True or False, not {kind_of(value)}")
    return value


def checked_list(value: Any, path: str) -> list[Any]:
    if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
        raise bad_field(path, f"must be a list, not {kind_of(value)}")
    return list(value)


def checked_mapping(value: object, path: str) -> Mapping[Any, Any]:
    if not isinstance(value, Mapping):
        raise bad_field(path, f"must be a mapping, not {kind_of(value)}")
    return value


def checked_timeout(value: object, path: str) -> float:
    """A time limit in milliseconds."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= INT32_MAX:
        raise bad_field(path, f"must be more than 0 and at most {INT32_MAX} milliseconds, not {number_or_kind(value)}")
    return float(value)


def kind_of(value: object) -> str:
    """The kind of a value, for errors. They never quote a value, which may be secret."""
    return "None" if value is None else f"a value of type {type(value).__name__}"


def number_or_kind(value: object) -> str:
    return str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else kind_of(value)


def _is_repeated(one: FieldDescriptor) -> bool:
    return isinstance(one.default_value, list)


def _check_of(one: FieldDescriptor) -> Callable[[Any, str], Any]:
    if one.enum_type is not None:
        numbers = {value.name: value.number for value in one.enum_type.values if not value.name.endswith("UNSPECIFIED")}

        def checked_enum(value: Any, path: str) -> int:
            number = numbers.get(value.upper()) if isinstance(value, str) else None
            if number is None:
                given = repr(value) if isinstance(value, str) else kind_of(value)
                raise bad_field(path, f"must be one of {', '.join(numbers)}, not {given}")
            return number

        return checked_enum
    checks: dict[int, Callable[[Any, str], Any]] = {
        FieldDescriptor.TYPE_STRING: checked_text,
        FieldDescriptor.TYPE_BYTES: checked_bytes,
        FieldDescriptor.TYPE_BOOL: checked_flag,
        FieldDescriptor.TYPE_INT32: checked_int32,
    }
    return checks.get(one.type, checked_count)
