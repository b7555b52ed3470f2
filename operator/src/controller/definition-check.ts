/** Checks whether the API server's definitions have the fields that this operator needs. */
import { isKubeError, type KubeClient } from "../kube/index.ts";

/** Versions of the definitions for which this operator was built. */
const SCHEMA_VERSIONS: ReadonlyMap<string, number> = new Map([
  ["coordinationclusters.quoin.dev", 2],
  ["coordinationbackupstores.quoin.dev", 1],
  ["coordinationbackups.quoin.dev", 1],
  ["coordinationbackupschedules.quoin.dev", 1],
]);
const ANNOTATION = "quoin.dev/schema-version";

/** @returns the first problem, for people; null if there is none, or if this operator may not read definitions */
export async function definitionProblem(client: KubeClient): Promise<string | null> {
  const checks = [...SCHEMA_VERSIONS].map(([name, version]) => problemOf(client, name, version));
  return (await Promise.all(checks)).find((problem) => problem !== null) ?? null;
}

async function problemOf(client: KubeClient, name: string, version: number): Promise<string | null> {
  try {
    const definition = await client.get<{ metadata?: { annotations?: Record<string, string> } }>({
      kind: "CustomResourceDefinition",
      namespace: "",
      name,
    });
    if (definition === null) {
      return `the definition ${name} is not installed: apply it from crds/ of this release`;
    }
    const found = Number(definition.metadata?.annotations?.[ANNOTATION] ?? 0);
    return found >= version
      ? null
      : `the definition ${name} has schema version ${found}, and this operator needs ${version}: apply the newer one`;
  } catch (error) {
    // An operator of some namespaces only may not read cluster-scoped objects.
    if (isKubeError(error, "forbidden")) {
      return null;
    }
    throw error;
  }
}
