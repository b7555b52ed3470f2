/** Whether the API server's definition of CoordinationCluster has what this operator needs. */
import { isKubeError, type KubeClient } from "../kube/index.ts";

/** Of the definition that this operator was built for. */
const SCHEMA_VERSION = 2;
const NAME = "coordinationclusters.quoin.dev";
const ANNOTATION = "quoin.dev/schema-version";

/** @returns what is wrong, in words; null if nothing is, or if this operator may not look */
export async function definitionProblem(client: KubeClient): Promise<string | null> {
  try {
    const definition = await client.get<{ metadata?: { annotations?: Record<string, string> } }>({
      kind: "CustomResourceDefinition",
      namespace: "",
      name: NAME,
    });
    if (definition === null) {
      return `the definition ${NAME} is not installed`;
    }
    const found = Number(definition.metadata?.annotations?.[ANNOTATION] ?? 0);
    return found >= SCHEMA_VERSION
      ? null
      : `the definition ${NAME} has schema version ${found}, and this operator needs ${SCHEMA_VERSION}: apply the newer one`;
  } catch (error) {
    // An operator of some namespaces only may not read what belongs to none.
    if (isKubeError(error, "forbidden")) {
      return null;
    }
    throw error;
  }
}
