"""Users, API keys and usage."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timezone
from typing import TYPE_CHECKING

from quoin import _types as types
from quoin._async.base import AsyncCalls
from quoin._async.calls import AsyncApiKeyCalls, AsyncUserCalls
from quoin._core.errors import bad_field, quoin_error
from quoin._generated import decode, models

if TYPE_CHECKING:
    from typing_extensions import Unpack


class AsyncUserClient(AsyncUserCalls):
    """Users and their rights. Administrators manage users whose role and namespaces they have."""

    async def create(
        self,
        email: str,
        *,
        role: types.UserRole,
        namespaces: Sequence[str],
        password: str | None = None,
        **call: Unpack[types.CallOptions],
    ) -> models.UserInfo:
        """Creates a user, who gets a mail to verify the address, and to set a password if none is given."""
        given = {"email": email, "role": role, "namespaces": namespaces}
        return await self._user("CreateUser", given, {"password": password}, call)

    async def get(self, user_id: str, **call: Unpack[types.CallOptions]) -> models.UserInfo:
        """Reads a user. Raises UserNotFoundError."""
        return await self._user("GetUser", {"user_id": user_id}, {}, call)

    async def update(
        self,
        user_id: str,
        *,
        role: types.UserRole | None = None,
        namespaces: Sequence[str] | None = None,
        password: str | None = None,
        status: types.UserStatus | None = None,
        current_password: str | None = None,
        **call: Unpack[types.CallOptions],
    ) -> models.UserInfo:
        """Changes a user; what is not given stays. To change one's own password, give the current one, too.

        A new password ends all tokens and streams of the user's logins at once, but not those of API keys.
        """
        names = None if namespaces is None else {"names": namespaces}
        optional = {"role": role, "namespaces": names, "password": password, "status": status}
        optional["current_password"] = current_password
        return await self._user("UpdateUser", {"user_id": user_id}, optional, call)

    async def _user(
        self, rpc: str, given: Mapping[str, object], optional: Mapping[str, object], call: types.CallOptions
    ) -> models.UserInfo:
        execution = await self._execute(f"AccountService/{rpc}", given, optional, call)
        return decode.user_info(execution.message.user)


class AsyncApiKeyClient(AsyncApiKeyCalls):
    """API keys, with which programs authenticate. Each acts for the user who created it."""

    async def create(
        self, name: str, *, expires_in_days: int | None = None, **call: Unpack[types.CallOptions]
    ) -> models.CreatedApiKey:
        """Creates an API key for the user of this client's token. Only this answer has the key itself.

        Raises ApiKeyLostError if an earlier attempt has created the key, and its answer was lost: revoke the key of the
        detail `api_key_id`, and create another one.
        """
        optional = {"expires_in_days": expires_in_days}
        created = await self._call(
            decode.created_api_key, "AccountService/CreateApiKey", {"name": name}, optional, call
        )
        if not created.key:
            key_id = created.api_key.api_key_id
            raise quoin_error(
                f"the API key {key_id} was created, but the answer with it was lost: revoke it, and create another",
                code="DATA_LOSS",
                reason="API_KEY_LOST",
                details={"api_key_id": key_id},
            )
        return created


class AsyncUsageClient(AsyncCalls):
    """What users and API keys have used."""

    async def read(
        self,
        *,
        start: date | str | None = None,
        end: date | str | None = None,
        granularity: types.Granularity = "day",
        **call: Unpack[types.CallOptions],
    ) -> models.Usage:
        """The usage in a period, by hours or days. By default of the current month.

        `start` and `end` are dates, times, or texts in ISO 8601; without a time zone in UTC.
        """
        optional = {
            "from_ms": _instant_ms(start, "start"),
            "to_ms": _instant_ms(end, "end"),
            "granularity": granularity,
        }
        return await self._call(decode.usage, "AccountService/GetUsage", {}, optional, call)


def _instant_ms(value: object, name: str) -> int | None:
    if value is None:
        return None
    found: object = value
    if isinstance(value, str):
        try:
            found = datetime.fromisoformat(re.sub(r"Z$", "+00:00", value))
        except ValueError:
            found = None
    if isinstance(found, date) and not isinstance(found, datetime):
        found = datetime(found.year, found.month, found.day)
    if not isinstance(found, datetime):
        raise bad_field(name, "must be a date or a time in ISO 8601, such as 2030-01-31T12:00:00Z")
    aware = found if found.tzinfo is not None else found.replace(tzinfo=timezone.utc)
    return round(aware.timestamp() * 1e3)
