"""How the contract looks in Python: the names of its answers, and the methods of each group of calls.

`generate.py` reads these tables. A method of the contract that is in no table has its code in `src/quoin/_async`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

# The dataclass of each message of an answer. Several messages with the same fields may have one class.
MODELS: dict[str, str] = {
    "KeyValue": "KeyEntry",
    "GetKeyResponse": "GetResult",
    "PutKeyResponse": "PutResult",
    "DeleteKeyResponse": "DeleteResult",
    "ListKeysResponse": "KeyPage",
    "CompareAndSwapResponse": "CompareAndSwapResult",
    "TouchKeyResponse": "TouchResult",
    "CountKeysResponse": "CountResult",
    "CreateNamespaceResponse": "CreateNamespaceResult",
    "QuotaUse": "QuotaUse",
    "Namespace": "NamespaceInfo",
    "ListNamespacesResponse": "NamespacePage",
    "KeyVersion": "KeyVersion",
    "ListKeyVersionsResponse": "KeyVersionPage",
    "LockHold": "LockHold",
    "CreateLockResponse": "CreateLockResult",
    "CreateRWLockResponse": "CreateLockResult",
    "CreateSemaphoreResponse": "CreateLockResult",
    "DescribeLockResponse": "DescribeLockResult",
    "DescribeRWLockResponse": "DescribeReadWriteLockResult",
    "DescribeSemaphoreResponse": "DescribeSemaphoreResult",
    "AcquireLockResponse": "AcquireLockResult",
    "AcquireRWLockResponse": "AcquireReadWriteLockResult",
    "AcquireSemaphoreResponse": "AcquireSemaphoreResult",
    "ReleaseLockResponse": "ReleaseResult",
    "ReleaseRWLockResponse": "ReleaseResult",
    "ReleaseSemaphoreResponse": "ReleaseResult",
    "ForceReleaseLockResponse": "ForceReleaseResult",
    "LockWait": "LockWait",
    "Lock": "ListedLock",
    "ListLocksResponse": "LockPage",
    "ListLockWaitsResponse": "LockWaits",
    "Session": "SessionInfo",
    "CreateSessionResponse": "CreateSessionResult",
    "RenewedSession": "RenewedSession",
    "RenewSessionsResponse": "RenewSessionsResult",
    "EndSessionResponse": "EndSessionResult",
    "SessionHold": "SessionHold",
    "DescribeSessionResponse": "DescribeSessionResult",
    "ListSessionsResponse": "SessionPage",
    "MemoryRegion": "MemoryRegionInfo",
    "AllocateMemoryResponse": "AllocateResult",
    "DescribeMemoryResponse": "DescribeRegionResult",
    "ResizeMemoryResponse": "ResizeResult",
    "FreeMemoryResponse": "FreeResult",
    "WriteMemoryResponse": "WriteMemoryResult",
    "ReadMemoryResponse": "ReadMemoryResult",
    "ListMemoryRegionsResponse": "RegionPage",
    "EventLog": "LogInfo",
    "ListLogsResponse": "LogPage",
    "LogEvent": "LogEvent",
    "ReadEventsResponse": "EventPage",
    "KeyEvent": "KeyEvent",
    "LockEvent": "LockEvent",
    "OpenStream": "OpenStream",
    "ListStreamsResponse": "OpenStreamPage",
    "Member": "MemberInfo",
    "GetClusterResponse": "Cluster",
    "User": "UserInfo",
    "ListUsersResponse": "UserPage",
    "ApiKey": "ApiKeyInfo",
    "ListApiKeysResponse": "ApiKeyPage",
    "CreateApiKeyResponse": "CreatedApiKey",
    "RevokeApiKeyResponse": "RevokedApiKey",
    "ExchangeTokenResponse": "AccessToken",
    "LoginResponse": "Login",
    "UsageCounts": "UsageCounts",
    "UsageBucket": "UsageBucket",
    "ApiKeyUsage": "ApiKeyUsage",
    "NamespaceUse": "NamespaceUse",
    "GetUsageResponse": "Usage",
    "PutResult": "TransactedPut",
    "DeleteResult": "TransactedDelete",
    "DeletePrefixResult": "TransactedDeletePrefix",
    "TouchResult": "TransactedTouch",
    "IncrementResult": "TransactedIncrement",
    "GetResult": "TransactedGet",
    "ListResult": "TransactedList",
    "WriteMemoryResult": "TransactedWriteMemory",
    "ReadMemoryResult": "TransactedReadMemory",
    "SequenceRun": "SequenceRun",
    "AppendResult": "TransactedAppend",
    "ReleaseResult": "TransactedRelease",
    "MemberStatus": "MemberStatus",
    "MemberSlot": "MemberSlot",
    "ListMembersResponse": "Membership",
    "GetStatusResponse": "StatusResult",
    "RequestCounts": "RequestCounts",
    "CounterSample": "CounterSample",
    "MemberCounters": "MemberCounters",
    "GetMemberCountersResponse": "MemberCountersResult",
    "Setting": "Setting",
    "GetSettingsResponse": "Settings",
    "BootstrapResponse": "BootstrapResult",
    "ResetOwnerResponse": "ResetOwnerResult",
    "AddMemberResponse": "AddMemberResult",
    "PromoteMembersResponse": "ChangeResult",
    "RemoveMembersResponse": "ChangeResult",
    "TransferLeadershipResponse": "TransferResult",
    "PutSettingsResponse": "PutSettingsResult",
    "StartBackupResponse": "StartBackupResult",
    "BackupRun": "BackupRun",
    "ArchiveStatus": "ArchiveStatus",
    "GetBackupStatusResponse": "BackupStatus",
    "BackupEntry": "BackupEntry",
    "ListBackupsResponse": "BackupList",
    "CompactResponse": "CompactResult",
} | dict.fromkeys(
    [
        *("DeleteNamespaceResponse", "SetLockValueResponse", "DeleteLockResponse", "DeleteRWLockResponse"),
        *("UpdateSemaphoreResponse", "DeleteSemaphoreResponse", "DeleteUserResponse", "DeleteLogResponse"),
    ],
    "Changed",
)

# Docstrings of classes that several messages share.
DOCS: dict[str, str] = {
    "Changed": "The answer to a change that has nothing else to report.",
    "CreateLockResult": "A created lock of any kind.",
    "ReleaseResult": "The answer to a release of a lock of any kind.",
    "ChangeResult": "A changed membership.",
}

# Fields of one message that stand beside those of the message around it.
FLATTENED: dict[str, str] = {"DescribeMemoryResponse": "region", "DescribeSessionResponse": "session"}

# Messages within a message that are always there.
REQUIRED: set[str] = {
    "KeyEvent.kv",
    "KeyVersion.kv",
    "GetStatusResponse.status",
    "AddMemberResponse.member",
    "UsageBucket.counts",
    "GetUsageResponse.totals",
    "LoginResponse.user",
    "CreateApiKeyResponse.api_key",
}

# Other names of fields, and fields whose zero means that there is nothing.
RENAMED: dict[str, str] = {"LogEvent.appended_at_ms": "timestamp_ms", "LogEvent.idempotency_key": "key"}
# Fields that `repr` leaves out.
SECRETS: set[str] = {"CreateApiKeyResponse.key", "ExchangeTokenResponse.access_token", "LoginResponse.access_token"}
NONE_IF_ZERO: set[str] = {
    "LogEvent.idempotency_key",
    "ApiKey.expires_at_ms",
    "ApiKey.last_used_at_ms",
    "ApiKey.revoked_at_ms",
}

# Values that the service may have left out of the answer to a retry: the condition under which they are there.
OMITTED: dict[str, str] = {
    "CompareAndSwapResponse.current_value": "m.current_exists and not m.current_value_omitted",
    "ReadMemoryResult.data": "not omitted",
}

# A key before a change, or as a transaction has seen it: its value may have been left out.
PREVIOUS: dict[str, str] = {
    "PutKeyResponse.previous": "m.previous_value_omitted",
    "DeleteKeyResponse.previous": "m.previous_value_omitted",
    "PutResult.previous": "omitted",
    "DeleteResult.previous": "omitted",
    "GetResult.kv": "omitted",
    "ListResult.items": "omitted",
}

# Enums in small letters, and enums whose zero means that there is nothing.
LOWER_ENUMS: set[str] = {"UserRole", "UserStatus"}
NONE_ENUMS: set[str] = {"RWMode"}

# Types of parameters and fields that the contract does not tell.
TYPES: dict[str, str] = {
    "AcquireRWLockRequest.mode": "LockMode",
    "ReleaseRWLockRequest.mode": "LockMode",
    "CreateUserRequest.role": "UserRole",
    "UpdateUserRequest.role": "UserRole",
    "UpdateUserRequest.status": "UserStatus",
    "GetUsageRequest.granularity": "Granularity",
}


@dataclass(frozen=True)
class Method:
    """A method of a group of calls. `given` are its positional parameters; all other fields are keywords."""

    name: str
    rpc: str
    given: str = ""
    without: str = ""
    fixed: dict[str, object] = field(default_factory=dict)
    # The name of the iteration over all pages.
    pages: str = ""


@dataclass(frozen=True)
class Group:
    """A group of calls of one service, which `client.<group>` has."""

    service: str
    doc: str
    methods: list[Method]


def _locks(kind: str, given: str, created: str, without: str = "") -> list[Method]:
    return [
        Method("create", f"Create{kind}", created),
        Method("describe", f"Describe{kind}", "namespace name"),
        Method("acquire", f"Acquire{kind}", given, "fencing_token"),
        Method("renew", f"Acquire{kind}", f"{given} fencing_token", f"wait_ms session_id value {without}"),
        Method("release", f"Release{kind}", "namespace name"),
        Method("force_release", "ForceReleaseLock", "namespace name", fixed={"rw": kind == "RWLock"}),
        Method("delete", f"Delete{kind}", "namespace name"),
    ]


GROUPS: dict[str, Group] = {
    "KeyValue": Group(
        "KeyValueService",
        "Keys and values in namespaces.",
        [
            Method("create_namespace", "CreateNamespace", "namespace"),
            Method("delete_namespace", "DeleteNamespace", "namespace"),
            Method("list_namespaces", "ListNamespaces", pages="namespace_pages"),
            Method("get", "GetKey", "namespace key"),
            Method("put", "PutKey", "namespace key value"),
            Method("delete", "DeleteKey", "namespace key"),
            Method("touch", "TouchKey", "namespace key ttl_seconds"),
            Method("list", "ListKeys", "namespace", pages="pages"),
            Method("count", "CountKeys", "namespace"),
            Method("versions", "ListKeyVersions", "namespace key", pages="version_pages"),
            Method("compare_and_swap", "CompareAndSwap", "namespace key new_value"),
        ],
    ),
    "Lock": Group(
        "LockService",
        "Exclusive locks.",
        [
            *_locks("Lock", "namespace name", "namespace name"),
            Method("set_value", "SetLockValue", "namespace name fencing_token value"),
            Method("list", "ListLocks", "namespace", pages="pages"),
            Method("list_waits", "ListLockWaits", "namespace name"),
        ],
    ),
    "ReadWriteLock": Group(
        "LockService",
        "Read-write locks: any number of readers, or one writer.",
        _locks("RWLock", "namespace name mode", "namespace name"),
    ),
    "Semaphore": Group(
        "LockService",
        "Semaphores: each hold has some of the permits.",
        [
            *_locks("Semaphore", "namespace name", "namespace name permits", "permits"),
            Method("update", "UpdateSemaphore", "namespace name permits"),
        ],
    ),
    "Session": Group(
        "SessionService",
        "Sessions, as single calls. `client.session` renews one.",
        [
            Method("create", "CreateSession", "namespace"),
            Method("end", "EndSession", "namespace session_id"),
            Method("describe", "DescribeSession", "namespace session_id"),
            Method("list", "ListSessions", "namespace", pages="pages"),
        ],
    ),
    "Memory": Group(
        "MemoryService",
        "Memory regions: bytes that are read and written by offset.",
        [
            Method("allocate", "AllocateMemory", "namespace size_bytes"),
            Method("describe", "DescribeMemory", "namespace region_id"),
            Method("resize", "ResizeMemory", "namespace region_id size_bytes"),
            Method("free", "FreeMemory", "namespace region_id"),
            Method("write", "WriteMemory", "namespace region_id offset data"),
            Method("read", "ReadMemory", "namespace region_id offset length"),
            Method("list", "ListMemoryRegions", "namespace", pages="pages"),
        ],
    ),
    "Log": Group("EventLogService", "Event logs.", [Method("list", "ListLogs", without="consistency", pages="pages")]),
    "Watch": Group("WatchService", "Open streams.", [Method("streams", "ListStreams", pages="stream_pages")]),
    "Cluster": Group("ClusterService", "Information about the cluster.", [Method("get", "GetCluster")]),
    "User": Group(
        "AccountService",
        "Users, and their rights.",
        [Method("list", "ListUsers", pages="pages"), Method("delete", "DeleteUser", "user_id")],
    ),
    "ApiKey": Group(
        "AccountService",
        "API keys. Each acts for the user who created it.",
        [Method("list", "ListApiKeys", pages="pages"), Method("revoke", "RevokeApiKey", "api_key_id")],
    ),
    "Admin": Group(
        "ClusterAdminService",
        "The administration of a cluster, or of one member.",
        [
            Method("get_status", "GetStatus"),
            Method("list_members", "ListMembers"),
            Method("member_counters", "GetMemberCounters"),
            Method("settings", "GetSettings"),
            Method("bootstrap", "Bootstrap", "cluster_id incarnation owner"),
            Method("add_member", "AddMember", "name"),
            Method("promote_members", "PromoteMembers", "ids"),
            Method("remove_members", "RemoveMembers", "ids"),
            Method("transfer_leadership", "TransferLeadership"),
            Method("reset_owner", "ResetOwner", "owner"),
            Method("start_backup", "StartBackup"),
            Method("get_backup_status", "GetBackupStatus"),
            Method("list_backups", "ListBackups"),
            Method("compact", "Compact", "revision"),
        ],
    ),
}

# The conditions and the operations of transactions: message, and positional parameters. A function in `ops.py` makes each.
PARTS: dict[str, tuple[str, str]] = {
    "key": ("CompareKey", "key"),
    "prefix": ("ComparePrefix", "prefix unchanged_since"),
    "log": ("CompareLog", "log_id last_sequence"),
    "put": ("PutOperation", "key value"),
    "delete": ("DeleteOperation", "key"),
    "delete_prefix": ("DeletePrefixOperation", "prefix"),
    "touch": ("TouchOperation", "key ttl_seconds"),
    "increment": ("IncrementOperation", "key delta"),
    "get": ("GetOperation", "key"),
    "list": ("ListOperation", "prefix"),
    "write_memory": ("WriteMemoryOperation", "region_id offset data"),
    "read_memory": ("ReadMemoryOperation", "region_id offset length"),
    "append": ("AppendOperation", "log_id payloads"),
    "transaction": ("NestedTransaction", ""),
}
