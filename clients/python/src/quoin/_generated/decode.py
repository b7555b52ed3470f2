# Made by scripts/generate.py from the contract. Do not edit.
"""Makes answers from messages."""

from __future__ import annotations

from typing import Any

from quoin._core.wire import required
from quoin._generated import models

_backup_phase = {
    0: "BACKUP_PHASE_UNSPECIFIED",
    1: "BACKUP_PENDING",
    2: "BACKUP_RUNNING",
    3: "BACKUP_SUCCEEDED",
    4: "BACKUP_FAILED",
}


_compare_operator = {0: "EQUAL", 1: "NOT_EQUAL", 2: "LESS", 3: "GREATER"}


_key_event_type = {0: "TYPE_UNSPECIFIED", 1: "PUT", 2: "DELETE", 3: "EXPIRE"}


_lock_event_action = {0: "ACTION_UNSPECIFIED", 1: "ACQUIRED", 2: "RELEASED"}


_lock_event_reason = {0: "NORMAL", 1: "EXPIRED", 2: "FORCED", 3: "DOWNGRADED", 4: "UPGRADED", 5: "UPDATED"}


_lock_state = {0: "LOCK_STATE_UNSPECIFIED", 1: "FREE", 2: "HELD", 3: "READ_HELD", 4: "WRITE_HELD", 5: "COOLDOWN"}


_member_role = {0: "MEMBER_ROLE_UNSPECIFIED", 1: "LEADER", 2: "FOLLOWER", 3: "CANDIDATE", 4: "LEARNER"}


_member_state = {
    0: "MEMBER_STATE_UNSPECIFIED",
    1: "EMPTY",
    2: "JOINING",
    3: "RUNNING",
    4: "MEMBER_DATA_LOST",
    5: "MEMBER_REMOVED",
    6: "MEMBER_DAMAGED",
    7: "WRONG_CLUSTER",
    8: "MEMBER_REFUSED",
}


_open_stream_kind = {0: "KIND_UNSPECIFIED", 1: "KEYS", 2: "LOCKS", 3: "EVENTS"}


_r_w_mode = {0: "RW_MODE_UNSPECIFIED", 1: "READ", 2: "WRITE"}


_read_consistency = {0: "LINEARIZABLE", 1: "SERIALIZABLE"}


_request_counts_kind = {
    0: "KIND_UNSPECIFIED",
    1: "KEY_READ",
    2: "KEY_WRITE",
    3: "LOCK",
    4: "MEMORY",
    5: "EVENT_LOG",
    6: "OTHER",
}


_usage_granularity = {0: "DAY", 1: "HOUR"}


_user_role = {0: "user_role_unspecified", 1: "viewer", 2: "member", 3: "admin", 4: "owner"}


_user_status = {0: "user_status_unspecified", 1: "unverified", 2: "active", 3: "disabled"}


def key_entry(m: Any) -> models.KeyEntry:
    return models.KeyEntry(
        key=m.key,
        value=m.value,
        create_revision=m.create_revision,
        mod_revision=m.mod_revision,
        version=m.version,
        expires_in_ms=m.expires_in_ms,
        session_id=m.session_id,
    )


def get_result(m: Any) -> models.GetResult:
    return models.GetResult(
        value=m.value,
        create_revision=m.create_revision,
        mod_revision=m.mod_revision,
        version=m.version,
        expires_in_ms=m.expires_in_ms,
        session_id=m.session_id,
        revision=m.revision,
    )


def put_result(m: Any) -> models.PutResult:
    return models.PutResult(
        mod_revision=m.mod_revision,
        created=m.created,
        previous=previous_entry(m.previous, m.previous_value_omitted) if m.HasField("previous") else None,
        previous_value_omitted=m.previous_value_omitted,
        revision=m.revision,
    )


def delete_result(m: Any) -> models.DeleteResult:
    return models.DeleteResult(
        deleted=m.deleted,
        previous=previous_entry(m.previous, m.previous_value_omitted) if m.HasField("previous") else None,
        previous_value_omitted=m.previous_value_omitted,
        revision=m.revision,
    )


def key_page(m: Any) -> models.KeyPage:
    return models.KeyPage(
        items=tuple(key_entry(x) for x in m.items), next_page_token=m.next_page_token, revision=m.revision
    )


def compare_and_swap_result(m: Any) -> models.CompareAndSwapResult:
    return models.CompareAndSwapResult(
        success=m.success,
        current_exists=m.current_exists,
        current_value=m.current_value if m.current_exists and not m.current_value_omitted else None,
        mod_revision=m.mod_revision,
        current_value_omitted=m.current_value_omitted,
        revision=m.revision,
    )


def touch_result(m: Any) -> models.TouchResult:
    return models.TouchResult(mod_revision=m.mod_revision, expires_in_ms=m.expires_in_ms, revision=m.revision)


def count_result(m: Any) -> models.CountResult:
    return models.CountResult(keys=m.keys, more=m.more, revision=m.revision)


def create_namespace_result(m: Any) -> models.CreateNamespaceResult:
    return models.CreateNamespaceResult(namespace=m.namespace, created_at_ms=m.created_at_ms, revision=m.revision)


def quota_use(m: Any) -> models.QuotaUse:
    return models.QuotaUse(name=m.name, used=m.used, limit=m.limit)


def namespace_info(m: Any) -> models.NamespaceInfo:
    return models.NamespaceInfo(
        name=m.name,
        created_at_ms=m.created_at_ms,
        create_revision=m.create_revision,
        quotas=tuple(quota_use(x) for x in m.quotas),
        deleting=m.deleting,
    )


def namespace_page(m: Any) -> models.NamespacePage:
    return models.NamespacePage(
        namespaces=tuple(namespace_info(x) for x in m.namespaces),
        next_page_token=m.next_page_token,
        revision=m.revision,
    )


def key_version(m: Any) -> models.KeyVersion:
    return models.KeyVersion(
        type=_key_event_type.get(m.type, str(m.type)),
        kv=key_entry(required(m, "kv")),
        age_ms=m.age_ms if m.HasField("age_ms") else None,
    )


def key_version_page(m: Any) -> models.KeyVersionPage:
    return models.KeyVersionPage(
        versions=tuple(key_version(x) for x in m.versions),
        next_page_token=m.next_page_token,
        searched_revision=m.searched_revision,
        compact_revision=m.compact_revision,
        revision=m.revision,
    )


def lock_hold(m: Any) -> models.LockHold:
    return models.LockHold(
        owner=m.owner,
        subject=m.subject,
        fencing_token=m.fencing_token,
        acquired_at_ms=m.acquired_at_ms,
        expires_in_ms=m.expires_in_ms,
        mode=_r_w_mode.get(m.mode, str(m.mode)) if m.mode else None,
        permits=m.permits,
        value=m.value,
        session_id=m.session_id,
    )


def create_lock_result(m: Any) -> models.CreateLockResult:
    return models.CreateLockResult(name=m.name, created_at_ms=m.created_at_ms, revision=m.revision)


def describe_lock_result(m: Any) -> models.DescribeLockResult:
    return models.DescribeLockResult(
        name=m.name,
        state=_lock_state.get(m.state, str(m.state)),
        holder=lock_hold(m.holder) if m.HasField("holder") else None,
        waiters=m.waiters,
        ttl_seconds=m.ttl_seconds,
        lock_delay_seconds=m.lock_delay_seconds,
        last_fencing_token=m.last_fencing_token,
        created_at_ms=m.created_at_ms,
        revision=m.revision,
    )


def describe_read_write_lock_result(m: Any) -> models.DescribeReadWriteLockResult:
    return models.DescribeReadWriteLockResult(
        name=m.name,
        state=_lock_state.get(m.state, str(m.state)),
        holders=tuple(lock_hold(x) for x in m.holders),
        waiting_readers=m.waiting_readers,
        waiting_writers=m.waiting_writers,
        ttl_seconds=m.ttl_seconds,
        lock_delay_seconds=m.lock_delay_seconds,
        last_fencing_token=m.last_fencing_token,
        created_at_ms=m.created_at_ms,
        revision=m.revision,
    )


def describe_semaphore_result(m: Any) -> models.DescribeSemaphoreResult:
    return models.DescribeSemaphoreResult(
        name=m.name,
        state=_lock_state.get(m.state, str(m.state)),
        permits=m.permits,
        held_permits=m.held_permits,
        holders=tuple(lock_hold(x) for x in m.holders),
        waiters=m.waiters,
        ttl_seconds=m.ttl_seconds,
        last_fencing_token=m.last_fencing_token,
        created_at_ms=m.created_at_ms,
        revision=m.revision,
    )


def acquire_lock_result(m: Any) -> models.AcquireLockResult:
    return models.AcquireLockResult(
        acquired=m.acquired,
        fencing_token=m.fencing_token,
        ttl_seconds=m.ttl_seconds,
        expires_in_ms=m.expires_in_ms,
        holder=lock_hold(m.holder) if m.HasField("holder") else None,
        queue_length=m.queue_length,
        state=_lock_state.get(m.state, str(m.state)),
        waited_ms=m.waited_ms,
        revision=m.revision,
    )


def acquire_read_write_lock_result(m: Any) -> models.AcquireReadWriteLockResult:
    return models.AcquireReadWriteLockResult(
        acquired=m.acquired,
        fencing_token=m.fencing_token,
        mode=_r_w_mode.get(m.mode, str(m.mode)) if m.mode else None,
        ttl_seconds=m.ttl_seconds,
        expires_in_ms=m.expires_in_ms,
        holders=tuple(lock_hold(x) for x in m.holders),
        queue_length=m.queue_length,
        state=_lock_state.get(m.state, str(m.state)),
        waited_ms=m.waited_ms,
        revision=m.revision,
    )


def acquire_semaphore_result(m: Any) -> models.AcquireSemaphoreResult:
    return models.AcquireSemaphoreResult(
        acquired=m.acquired,
        fencing_token=m.fencing_token,
        ttl_seconds=m.ttl_seconds,
        expires_in_ms=m.expires_in_ms,
        permits=m.permits,
        held_permits=m.held_permits,
        holders=tuple(lock_hold(x) for x in m.holders),
        queue_length=m.queue_length,
        state=_lock_state.get(m.state, str(m.state)),
        waited_ms=m.waited_ms,
        revision=m.revision,
    )


def release_result(m: Any) -> models.ReleaseResult:
    return models.ReleaseResult(released=m.released, revision=m.revision)


def force_release_result(m: Any) -> models.ForceReleaseResult:
    return models.ForceReleaseResult(
        released=m.released, previous=lock_hold(m.previous) if m.HasField("previous") else None, revision=m.revision
    )


def lock_wait(m: Any) -> models.LockWait:
    return models.LockWait(
        place=m.place,
        owner=m.owner,
        subject=m.subject,
        mode=_r_w_mode.get(m.mode, str(m.mode)) if m.mode else None,
        ttl_seconds=m.ttl_seconds,
        waited_ms=m.waited_ms,
        ends_in_ms=m.ends_in_ms,
        permits=m.permits,
    )


def listed_lock(m: Any) -> models.ListedLock:
    return models.ListedLock(
        name=m.name,
        rw=m.rw,
        state=_lock_state.get(m.state, str(m.state)),
        holders=tuple(lock_hold(x) for x in m.holders),
        holder_count=m.holder_count,
        waiting_readers=m.waiting_readers,
        waiting_writers=m.waiting_writers,
        waits=tuple(lock_wait(x) for x in m.waits),
        ttl_seconds=m.ttl_seconds,
        lock_delay_seconds=m.lock_delay_seconds,
        cooldown_ms=m.cooldown_ms,
        last_fencing_token=m.last_fencing_token,
        created_at_ms=m.created_at_ms,
        refused_guards=m.refused_guards,
        permits=m.permits,
        held_permits=m.held_permits,
    )


def lock_page(m: Any) -> models.LockPage:
    return models.LockPage(
        locks=tuple(listed_lock(x) for x in m.locks),
        next_page_token=m.next_page_token,
        refused_guards_for_ms=m.refused_guards_for_ms,
        revision=m.revision,
    )


def lock_waits(m: Any) -> models.LockWaits:
    return models.LockWaits(waits=tuple(lock_wait(x) for x in m.waits), revision=m.revision)


def session_info(m: Any) -> models.SessionInfo:
    return models.SessionInfo(
        session_id=m.session_id,
        owner=m.owner,
        subject=m.subject,
        metadata=m.metadata,
        ttl_seconds=m.ttl_seconds,
        expires_in_ms=m.expires_in_ms,
        created_at_ms=m.created_at_ms,
        objects=m.objects,
    )


def create_session_result(m: Any) -> models.CreateSessionResult:
    return models.CreateSessionResult(session_id=m.session_id, expires_in_ms=m.expires_in_ms, revision=m.revision)


def renewed_session(m: Any) -> models.RenewedSession:
    return models.RenewedSession(session_id=m.session_id, expires_in_ms=m.expires_in_ms)


def renew_sessions_result(m: Any) -> models.RenewSessionsResult:
    return models.RenewSessionsResult(sessions=tuple(renewed_session(x) for x in m.sessions), revision=m.revision)


def end_session_result(m: Any) -> models.EndSessionResult:
    return models.EndSessionResult(ended_objects=m.ended_objects, revision=m.revision)


def session_hold(m: Any) -> models.SessionHold:
    return models.SessionHold(lock_name=m.lock_name, fencing_token=m.fencing_token, rw=m.rw)


def describe_session_result(m: Any) -> models.DescribeSessionResult:
    return models.DescribeSessionResult(
        session_id=required(m, "session").session_id,
        owner=required(m, "session").owner,
        subject=required(m, "session").subject,
        metadata=required(m, "session").metadata,
        ttl_seconds=required(m, "session").ttl_seconds,
        expires_in_ms=required(m, "session").expires_in_ms,
        created_at_ms=required(m, "session").created_at_ms,
        objects=required(m, "session").objects,
        keys=tuple(m.keys),
        holds=tuple(session_hold(x) for x in m.holds),
        revision=m.revision,
    )


def session_page(m: Any) -> models.SessionPage:
    return models.SessionPage(
        items=tuple(session_info(x) for x in m.items), next_page_token=m.next_page_token, revision=m.revision
    )


def memory_region_info(m: Any) -> models.MemoryRegionInfo:
    return models.MemoryRegionInfo(
        region_id=m.region_id,
        namespace=m.namespace,
        size_bytes=m.size_bytes,
        version=m.version,
        created_at_ms=m.created_at_ms,
        updated_at_ms=m.updated_at_ms,
        label=m.label,
    )


def allocate_result(m: Any) -> models.AllocateResult:
    return models.AllocateResult(region_id=m.region_id, size_bytes=m.size_bytes, version=m.version, revision=m.revision)


def describe_region_result(m: Any) -> models.DescribeRegionResult:
    return models.DescribeRegionResult(
        region_id=required(m, "region").region_id,
        namespace=required(m, "region").namespace,
        size_bytes=required(m, "region").size_bytes,
        version=required(m, "region").version,
        created_at_ms=required(m, "region").created_at_ms,
        updated_at_ms=required(m, "region").updated_at_ms,
        label=required(m, "region").label,
        revision=m.revision,
    )


def resize_result(m: Any) -> models.ResizeResult:
    return models.ResizeResult(
        size_bytes=m.size_bytes, previous_size_bytes=m.previous_size_bytes, version=m.version, revision=m.revision
    )


def free_result(m: Any) -> models.FreeResult:
    return models.FreeResult(freed=m.freed, revision=m.revision)


def write_memory_result(m: Any) -> models.WriteMemoryResult:
    return models.WriteMemoryResult(bytes_written=m.bytes_written, version=m.version, revision=m.revision)


def read_memory_result(m: Any) -> models.ReadMemoryResult:
    return models.ReadMemoryResult(data=m.data, version=m.version, size_bytes=m.size_bytes, revision=m.revision)


def region_page(m: Any) -> models.RegionPage:
    return models.RegionPage(
        regions=tuple(memory_region_info(x) for x in m.regions), next_page_token=m.next_page_token, revision=m.revision
    )


def log_info(m: Any) -> models.LogInfo:
    return models.LogInfo(
        log_id=m.log_id,
        name=m.name,
        namespace=m.namespace,
        first_sequence=m.first_sequence,
        last_sequence=m.last_sequence,
        event_count=m.event_count,
        size_bytes=m.size_bytes,
        created_at_ms=m.created_at_ms,
        created_by=m.created_by,
        settings=dict(m.settings),
    )


def log_page(m: Any) -> models.LogPage:
    return models.LogPage(
        logs=tuple(log_info(x) for x in m.logs), next_page_token=m.next_page_token, revision=m.revision
    )


def log_event(m: Any) -> models.LogEvent:
    return models.LogEvent(
        sequence=m.sequence,
        timestamp_ms=m.appended_at_ms,
        payload=m.payload,
        key=m.idempotency_key if m.idempotency_key else None,
    )


def event_page(m: Any) -> models.EventPage:
    return models.EventPage(
        events=tuple(log_event(x) for x in m.events), last_sequence=m.last_sequence, revision=m.revision
    )


def key_event(m: Any) -> models.KeyEvent:
    return models.KeyEvent(
        type=_key_event_type.get(m.type, str(m.type)),
        kv=key_entry(required(m, "kv")),
        previous=key_entry(m.previous) if m.HasField("previous") else None,
    )


def lock_event(m: Any) -> models.LockEvent:
    return models.LockEvent(
        lock_key=m.lock_key,
        action=_lock_event_action.get(m.action, str(m.action)),
        owner=m.owner,
        reason=_lock_event_reason.get(m.reason, str(m.reason)),
        mode=_r_w_mode.get(m.mode, str(m.mode)) if m.mode else None,
        fencing_token=m.fencing_token,
        revision=m.revision,
        rw=m.rw,
        permits=m.permits,
        value=m.value,
    )


def open_stream(m: Any) -> models.OpenStream:
    return models.OpenStream(
        id=m.id,
        kind=_open_stream_kind.get(m.kind, str(m.kind)),
        namespace=m.namespace,
        prefix=m.prefix,
        log_id=m.log_id,
        user_id=m.user_id,
        email=m.email,
        api_key_id=m.api_key_id,
        open_ms=m.open_ms,
        start=m.start,
        delivered=m.delivered,
        behind=m.behind,
        sending=m.sending,
        exact=m.exact,
    )


def open_stream_page(m: Any) -> models.OpenStreamPage:
    return models.OpenStreamPage(
        streams=tuple(open_stream(x) for x in m.streams),
        next_page_token=m.next_page_token,
        member_id=m.member_id,
        revision=m.revision,
    )


def member_info(m: Any) -> models.MemberInfo:
    return models.MemberInfo(
        id=m.id,
        name=m.name,
        grpc_endpoint=m.grpc_endpoint,
        http_endpoint=m.http_endpoint,
        learner=m.learner,
        leader=m.leader,
    )


def cluster(m: Any) -> models.Cluster:
    return models.Cluster(
        cluster_id=m.cluster_id,
        members=tuple(member_info(x) for x in m.members),
        leader_id=m.leader_id,
        term=m.term,
        revision=m.revision,
    )


def user_info(m: Any) -> models.UserInfo:
    return models.UserInfo(
        user_id=m.user_id,
        email=m.email,
        role=_user_role.get(m.role, str(m.role)),
        namespaces=tuple(m.namespaces),
        status=_user_status.get(m.status, str(m.status)),
        created_at_ms=m.created_at_ms,
    )


def user_page(m: Any) -> models.UserPage:
    return models.UserPage(
        users=tuple(user_info(x) for x in m.users), next_page_token=m.next_page_token, revision=m.revision
    )


def api_key_info(m: Any) -> models.ApiKeyInfo:
    return models.ApiKeyInfo(
        api_key_id=m.api_key_id,
        name=m.name,
        key_prefix=m.key_prefix,
        user_id=m.user_id,
        created_at_ms=m.created_at_ms,
        expires_at_ms=m.expires_at_ms if m.expires_at_ms else None,
        last_used_at_ms=m.last_used_at_ms if m.last_used_at_ms else None,
        revoked_at_ms=m.revoked_at_ms if m.revoked_at_ms else None,
    )


def api_key_page(m: Any) -> models.ApiKeyPage:
    return models.ApiKeyPage(
        keys=tuple(api_key_info(x) for x in m.keys), next_page_token=m.next_page_token, revision=m.revision
    )


def created_api_key(m: Any) -> models.CreatedApiKey:
    return models.CreatedApiKey(api_key=api_key_info(required(m, "api_key")), key=m.key, revision=m.revision)


def revoked_api_key(m: Any) -> models.RevokedApiKey:
    return models.RevokedApiKey(revoked_at_ms=m.revoked_at_ms, revision=m.revision)


def access_token(m: Any) -> models.AccessToken:
    return models.AccessToken(access_token=m.access_token, expires_in_seconds=m.expires_in_seconds)


def login(m: Any) -> models.Login:
    return models.Login(
        access_token=m.access_token, expires_in_seconds=m.expires_in_seconds, user=user_info(required(m, "user"))
    )


def usage_counts(m: Any) -> models.UsageCounts:
    return models.UsageCounts(
        requests=m.requests,
        append_requests=m.append_requests,
        events_appended=m.events_appended,
        bytes_appended=m.bytes_appended,
        bytes_stored=m.bytes_stored if m.HasField("bytes_stored") else None,
        kv_operations=m.kv_operations,
        lock_operations=m.lock_operations,
        memory_operations=m.memory_operations,
        memory_bytes=m.memory_bytes if m.HasField("memory_bytes") else None,
    )


def usage_bucket(m: Any) -> models.UsageBucket:
    return models.UsageBucket(start_ms=m.start_ms, counts=usage_counts(required(m, "counts")))


def api_key_usage(m: Any) -> models.ApiKeyUsage:
    return models.ApiKeyUsage(
        api_key_id=m.api_key_id, requests=m.requests, events_appended=m.events_appended, bytes_appended=m.bytes_appended
    )


def namespace_use(m: Any) -> models.NamespaceUse:
    return models.NamespaceUse(namespace=m.namespace, quotas=tuple(quota_use(x) for x in m.quotas))


def usage(m: Any) -> models.Usage:
    return models.Usage(
        start_ms=m.start_ms,
        end_ms=m.end_ms,
        totals=usage_counts(required(m, "totals")),
        buckets=tuple(usage_bucket(x) for x in m.buckets),
        api_keys=tuple(api_key_usage(x) for x in m.api_keys),
        namespaces=tuple(namespace_use(x) for x in m.namespaces),
        requests_per_minute=m.requests_per_minute,
        as_of_ms=m.as_of_ms,
        revision=m.revision,
    )


def transacted_put(m: Any, omitted: bool = False) -> models.TransactedPut:
    return models.TransactedPut(
        created=m.created, previous=previous_entry(m.previous, omitted) if m.HasField("previous") else None
    )


def transacted_delete(m: Any, omitted: bool = False) -> models.TransactedDelete:
    return models.TransactedDelete(
        deleted=m.deleted, previous=previous_entry(m.previous, omitted) if m.HasField("previous") else None
    )


def transacted_delete_prefix(m: Any) -> models.TransactedDeletePrefix:
    return models.TransactedDeletePrefix(deleted_keys=m.deleted_keys)


def transacted_touch(m: Any) -> models.TransactedTouch:
    return models.TransactedTouch(expires_in_ms=m.expires_in_ms)


def transacted_increment(m: Any) -> models.TransactedIncrement:
    return models.TransactedIncrement(value=m.value, created=m.created)


def transacted_get(m: Any, omitted: bool = False) -> models.TransactedGet:
    return models.TransactedGet(kv=previous_entry(m.kv, omitted) if m.HasField("kv") else None)


def transacted_list(m: Any, omitted: bool = False) -> models.TransactedList:
    return models.TransactedList(items=tuple(previous_entry(x, omitted) for x in m.items), more=m.more)


def transacted_write_memory(m: Any) -> models.TransactedWriteMemory:
    return models.TransactedWriteMemory(version=m.version)


def transacted_read_memory(m: Any, omitted: bool = False) -> models.TransactedReadMemory:
    return models.TransactedReadMemory(data=m.data if not omitted else None, version=m.version)


def sequence_run(m: Any) -> models.SequenceRun:
    return models.SequenceRun(first_sequence=m.first_sequence, count=m.count)


def transacted_append(m: Any) -> models.TransactedAppend:
    return models.TransactedAppend(runs=tuple(sequence_run(x) for x in m.runs), last_sequence=m.last_sequence)


def transacted_release(m: Any) -> models.TransactedRelease:
    return models.TransactedRelease()


def member_status(m: Any) -> models.MemberStatus:
    return models.MemberStatus(
        id=m.id,
        name=m.name,
        state=_member_state.get(m.state, str(m.state)),
        state_for_ms=m.state_for_ms,
        role=_member_role.get(m.role, str(m.role)),
        term=m.term,
        leader_id=m.leader_id,
        commit_index=m.commit_index,
        applied_index=m.applied_index,
        first_index=m.first_index,
        last_index=m.last_index,
        revision=m.revision,
        db_size_bytes=m.db_size_bytes,
        disk_free_bytes=m.disk_free_bytes,
        version=m.version,
        downgrade_floor=m.downgrade_floor,
        uptime_ms=m.uptime_ms,
        incarnation=m.incarnation,
        cluster_id=m.cluster_id,
        alarms=tuple(m.alarms),
        state_hash=m.state_hash,
        state_hash_index=m.state_hash_index,
        certificate_serial=m.certificate_serial,
        trusted_cas=tuple(m.trusted_cas),
        settings_revision=m.settings_revision,
        last_term=m.last_term,
        founded_from=m.founded_from,
        clock_ms=m.clock_ms,
    )


def member_slot(m: Any) -> models.MemberSlot:
    return models.MemberSlot(
        id=m.id,
        name=m.name,
        peer_endpoint=m.peer_endpoint,
        grpc_endpoint=m.grpc_endpoint,
        http_endpoint=m.http_endpoint,
        voter=m.voter,
        incarnation=m.incarnation,
        lag_ms=m.lag_ms,
        contact_age_ms=m.contact_age_ms,
        promotable=m.promotable,
    )


def membership(m: Any) -> models.Membership:
    return models.Membership(
        cluster_id=m.cluster_id,
        term=m.term,
        config_index=m.config_index,
        commit_index=m.commit_index,
        changing=m.changing,
        leader_id=m.leader_id,
        members=tuple(member_slot(x) for x in m.members),
    )


def status_result(m: Any) -> models.StatusResult:
    return models.StatusResult(
        status=member_status(required(m, "status")), known=membership(m.known) if m.HasField("known") else None
    )


def request_counts(m: Any) -> models.RequestCounts:
    return models.RequestCounts(
        kind=_request_counts_kind.get(m.kind, str(m.kind)),
        ok=m.ok,
        refused=m.refused,
        failed=m.failed,
        p50_us=m.p50_us,
        p99_us=m.p99_us,
    )


def counter_sample(m: Any) -> models.CounterSample:
    return models.CounterSample(
        at_ms=m.at_ms,
        interval_ms=m.interval_ms,
        requests=tuple(request_counts(x) for x in m.requests),
        lag_ms=m.lag_ms,
        role=_member_role.get(m.role, str(m.role)),
        loop_delay_us=m.loop_delay_us,
        processor_us=m.processor_us,
        memory_bytes=m.memory_bytes,
        db_size_bytes=m.db_size_bytes,
        disk_free_bytes=m.disk_free_bytes,
        streams=m.streams,
        connections=m.connections,
    )


def member_counters(m: Any) -> models.MemberCounters:
    return models.MemberCounters(
        id=m.id,
        name=m.name,
        problem=m.problem,
        status=member_status(m.status) if m.HasField("status") else None,
        samples=tuple(counter_sample(x) for x in m.samples),
    )


def member_counters_result(m: Any) -> models.MemberCountersResult:
    return models.MemberCountersResult(members=tuple(member_counters(x) for x in m.members), answered_by=m.answered_by)


def setting(m: Any) -> models.Setting:
    return models.Setting(name=m.name, value=m.value, default_value=m.default_value, min=m.min, max=m.max)


def settings(m: Any) -> models.Settings:
    return models.Settings(settings=tuple(setting(x) for x in m.settings), settings_revision=m.settings_revision)


def bootstrap_result(m: Any) -> models.BootstrapResult:
    return models.BootstrapResult(member_id=m.member_id)


def reset_owner_result(m: Any) -> models.ResetOwnerResult:
    return models.ResetOwnerResult(user_id=m.user_id, created=m.created)


def add_member_result(m: Any) -> models.AddMemberResult:
    return models.AddMemberResult(member=member_slot(required(m, "member")), config_index=m.config_index)


def change_result(m: Any) -> models.ChangeResult:
    return models.ChangeResult(config_index=m.config_index)


def transfer_result(m: Any) -> models.TransferResult:
    return models.TransferResult(leader_id=m.leader_id, term=m.term)


def put_settings_result(m: Any) -> models.PutSettingsResult:
    return models.PutSettingsResult(settings_revision=m.settings_revision)


def start_backup_result(m: Any) -> models.StartBackupResult:
    return models.StartBackupResult(id=m.id)


def backup_run(m: Any) -> models.BackupRun:
    return models.BackupRun(
        id=m.id,
        phase=_backup_phase.get(m.phase, str(m.phase)),
        object=m.object,
        index=m.index,
        revision=m.revision,
        wall_ms=m.wall_ms,
        bytes=m.bytes,
        rows=m.rows,
        started_ms=m.started_ms,
        ended_ms=m.ended_ms,
        error=m.error,
        leaderless=m.leaderless,
    )


def archive_status(m: Any) -> models.ArchiveStatus:
    return models.ArchiveStatus(
        enabled=m.enabled,
        archiver_id=m.archiver_id,
        archived_index=m.archived_index,
        archived_revision=m.archived_revision,
        archived_wall_ms=m.archived_wall_ms,
        lag_ms=m.lag_ms,
        chain_index=m.chain_index,
        chain_broken=m.chain_broken,
        chain_breaks=m.chain_breaks,
        last_success_ms=m.last_success_ms,
        failures=m.failures,
        last_error=m.last_error,
    )


def backup_status(m: Any) -> models.BackupStatus:
    return models.BackupStatus(
        store=m.store,
        encrypted=m.encrypted,
        run=backup_run(m.run) if m.HasField("run") else None,
        archive=archive_status(m.archive) if m.HasField("archive") else None,
        next_snapshot_ms=m.next_snapshot_ms,
        verified_ms=m.verified_ms,
        damage_found_ms=m.damage_found_ms,
        damaged_objects=tuple(m.damaged_objects),
    )


def backup_entry(m: Any) -> models.BackupEntry:
    return models.BackupEntry(
        id=m.id,
        object=m.object,
        index=m.index,
        revision=m.revision,
        wall_ms=m.wall_ms,
        size_bytes=m.size_bytes,
        segments=m.segments,
        segment_bytes=m.segment_bytes,
        end_index=m.end_index,
        end_revision=m.end_revision,
        end_wall_ms=m.end_wall_ms,
    )


def backup_list(m: Any) -> models.BackupList:
    return models.BackupList(
        store=m.store,
        cluster_id=m.cluster_id,
        backups=tuple(backup_entry(x) for x in m.backups),
        problems=tuple(m.problems),
        cluster_ids=tuple(m.cluster_ids),
    )


def compact_result(m: Any) -> models.CompactResult:
    return models.CompactResult(compact_revision=m.compact_revision)


def changed(m: Any) -> models.Changed:
    return models.Changed(revision=m.revision)


def previous_entry(m: Any, omitted: bool = False) -> models.PreviousEntry:
    return models.PreviousEntry(
        key=m.key,
        value=None if omitted else m.value,
        create_revision=m.create_revision,
        mod_revision=m.mod_revision,
        version=m.version,
        expires_in_ms=m.expires_in_ms,
        session_id=m.session_id,
    )
