/** Administration of a cluster that has one member, and backups in its store. */

import type { Example } from "./example.ts";

export const ADMINISTRATION: readonly Example[] = [
  {
    kind: "grpc",
    method: "ClusterAdminService/ListMembers",
    request: {},
    answers: [
      {
        clusterId: "3f0c8a52-6d1e-4b9a-8f27-5c94e1b7d036",
        term: "2",
        configIndex: "1",
        commitIndex: "25",
        leaderId: "1",
        members: [
          {
            id: "1",
            name: "q-0",
            peerEndpoint: "127.0.0.1:7402",
            grpcEndpoint: "127.0.0.1:7400",
            httpEndpoint: "127.0.0.1:7401",
            voter: true,
            incarnation: "daf59092ae0a0f9ec3e48c586d39ef4e",
          },
        ],
      },
    ],
  },
  {
    kind: "grpc",
    method: "ClusterAdminService/GetMemberCounters",
    request: { windowSeconds: 60 },
    isPart: true,
    answers: [
      {
        members: [
          {
            id: "1",
            name: "q-0",
            status: { id: "1", name: "q-0", state: "RUNNING", role: "LEADER", leaderId: "1" },
          },
        ],
        answeredBy: "1",
      },
    ],
  },
  {
    kind: "grpc",
    method: "ClusterAdminService/AddMember",
    request: { name: "q-1" },
    answers: [{ member: { id: "26", name: "q-1" }, configIndex: "26" }],
  },
  {
    kind: "grpc",
    method: "ClusterAdminService/RemoveMembers",
    request: { ids: ["26"] },
    answers: [{ configIndex: "27" }],
  },
  {
    kind: "grpc",
    method: "ClusterAdminService/PromoteMembers",
    about: "The member votes already, so nothing changes.",
    request: { ids: ["1"] },
    answers: [{ configIndex: "28" }],
  },
  {
    kind: "grpc",
    method: "ClusterAdminService/TransferLeadership",
    about: "The member leads already.",
    request: { targetId: "1" },
    answers: [{ leaderId: "1", term: "2" }],
  },
  {
    kind: "grpc",
    method: "ClusterAdminService/PutSettings",
    request: { values: { "quota.namespace.shop.keys": "1000" } },
    answers: [{ settingsRevision: "1" }],
  },
  {
    kind: "grpc",
    method: "ClusterAdminService/GetSettings",
    request: {},
    isPart: true,
    answers: [
      {
        settings: [
          { name: "history.age_secs", defaultValue: "3600", min: "60", max: "604800" },
          { name: "history.bytes", defaultValue: "2147483648", min: "1048576", max: "1099511627776" },
        ],
        settingsRevision: "1",
      },
    ],
  },
  {
    kind: "grpc",
    method: "ClusterAdminService/RotateKeys",
    request: {},
    answers: [{ kid: "Xoko8JvmXLl_OMYakDLswwTZGXeQgJTDRUxt3sRO8T0" }],
  },
  {
    kind: "grpc",
    method: "ClusterAdminService/StartBackup",
    port: "admin",
    request: {},
    answers: [{ id: "9197e60a9b59b5e3de54c650aa4ebecf" }],
  },
  {
    kind: "grpc",
    method: "ClusterAdminService/GetBackupStatus",
    request: { id: "9197e60a9b59b5e3de54c650aa4ebecf" },
    answers: [
      {
        store: "/var/backups/quoin",
        run: {
          id: "9197e60a9b59b5e3de54c650aa4ebecf",
          phase: "BACKUP_SUCCEEDED",
          object:
            "3f0c8a52-6d1e-4b9a-8f27-5c94e1b7d036/snapshots/0000000000000030-0000000000000019-0001795719585214-9197e60a9b59b5e3de54c650aa4ebecf.qsnap",
          index: "30",
          revision: "19",
          wallMs: "1795719585214",
          bytes: "6593",
          rows: "64",
          startedMs: "1795719585224",
          endedMs: "1795719585267",
        },
        verifiedMs: "1795719585290",
      },
    ],
    isRepeated: true,
  },
  {
    kind: "grpc",
    method: "ClusterAdminService/ListBackups",
    request: {},
    answers: [
      {
        store: "/var/backups/quoin",
        clusterId: "3f0c8a52-6d1e-4b9a-8f27-5c94e1b7d036",
        backups: [
          {
            id: "9197e60a9b59b5e3de54c650aa4ebecf",
            object:
              "3f0c8a52-6d1e-4b9a-8f27-5c94e1b7d036/snapshots/0000000000000030-0000000000000019-0001795719585214-9197e60a9b59b5e3de54c650aa4ebecf.qsnap",
            index: "30",
            revision: "19",
            wallMs: "1795719585214",
            sizeBytes: "3306",
            endIndex: "30",
            endRevision: "19",
            endWallMs: "1795719585214",
          },
        ],
        clusterIds: ["3f0c8a52-6d1e-4b9a-8f27-5c94e1b7d036"],
      },
    ],
  },
  {
    kind: "grpc",
    method: "ClusterAdminService/Snapshot",
    port: "admin",
    request: {},
    answers: [
      {
        chunk: "UVVPSU4tU04AAQAAAAAAuAAB…",
        index: "30",
        revision: "19",
        commitIndex: "30",
      },
    ],
  },
  {
    kind: "grpc",
    method: "ClusterAdminService/Compact",
    request: { revision: "3" },
    answers: [{ compactRevision: "3" }],
  },
];
