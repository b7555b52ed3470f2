/**
 * An object store in a pod: versitygw, with an initially empty bucket, and the objects by which clusters use it. Its
 * data lives as long as the pod.
 */

import { randomBytes } from "node:crypto";
import { until } from "../cluster/index.ts";
import { isPodReady, LIMIT_MS, type QuoinCluster } from "./quoin-cluster.ts";

export const S3_POD = "s3";
const PORT = 7070;
const USER = 65_532;
const BUCKET = "backups";
const OBJECTS = "/store/objects";
const ATTRIBUTES = "/store/attributes";
const ACCESS_KEY = "an-access-key";
const SECRET_KEY = "a-secret-access-key";
export const STORE = "store";

/** Starts it in the namespace of the cluster, with a CoordinationBackupStore called `store`. */
export async function startS3(cluster: QuoinCluster): Promise<void> {
  const { kubernetes, namespace } = cluster;
  const image = await kubernetes.cluster.provideS3();
  await kubernetes.apply(namespace, pod(image, kubernetes.cluster.nodeImage), service(), ...storeObjects());
  const path = `/api/v1/namespaces/${namespace}/pods/${S3_POD}`;
  await until("the object store to be ready", async () => isPodReady(await kubernetes.get(path)), LIMIT_MS);
}

function pod(image: string, nodeImage: string): object {
  const volumeMounts = [
    { name: "objects", mountPath: OBJECTS },
    { name: "attributes", mountPath: ATTRIBUTES },
  ];
  const options = ["--port", `:${PORT}`, "--region", "us-east-1", "--quiet", "--keep-alive"];
  const container = {
    name: S3_POD,
    image,
    imagePullPolicy: "IfNotPresent",
    volumeMounts,
    args: [...options, "posix", "--sidecar", ATTRIBUTES, OBJECTS],
    env: [
      { name: "ROOT_ACCESS_KEY_ID", value: ACCESS_KEY },
      { name: "ROOT_SECRET_ACCESS_KEY", value: SECRET_KEY },
    ],
    readinessProbe: { tcpSocket: { port: PORT }, periodSeconds: 1 },
  };
  // A bucket is a folder.
  const bucket = { name: "bucket", image: nodeImage, command: ["mkdir", "-p", `${OBJECTS}/${BUCKET}`], volumeMounts };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: S3_POD, labels: { app: S3_POD } },
    spec: {
      securityContext: { runAsUser: USER, runAsNonRoot: true, fsGroup: USER },
      initContainers: [bucket],
      containers: [container],
      volumes: [
        { name: "objects", emptyDir: {} },
        { name: "attributes", emptyDir: {} },
      ],
      terminationGracePeriodSeconds: 1,
    },
  };
}

function service(): object {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: S3_POD },
    spec: { selector: { app: S3_POD }, ports: [{ port: PORT }] },
  };
}

/** The store, and its Secrets. */
function storeObjects(): object[] {
  const secret = (name: string, stringData: object): object => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name },
    stringData,
  });
  const credentials = `[default]\naws_access_key_id = ${ACCESS_KEY}\naws_secret_access_key = ${SECRET_KEY}\n`;
  return [
    secret("store-credentials", { credentials }),
    secret("store-keys", { keys: `first:${randomBytes(32).toString("base64")}\n` }),
    {
      apiVersion: "quoin.dev/v1alpha1",
      kind: "CoordinationBackupStore",
      metadata: { name: STORE },
      spec: {
        s3: {
          bucket: BUCKET,
          prefix: "demo",
          endpoint: `http://${S3_POD}:${PORT}`,
          pathStyle: true,
          credentialsSecretRef: { name: "store-credentials" },
        },
        encryption: { keysSecretRef: { name: "store-keys" } },
      },
    },
  ];
}
