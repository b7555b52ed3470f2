/** The command line, as the owner of a cluster runs it in a member's pod. */

import type { QuoinCluster } from "./quoin-cluster.ts";

/** Returns its output. Rejects with its error output. */
export async function quoinctl(cluster: QuoinCluster, ...args: readonly string[]): Promise<string> {
  const { kubernetes, namespace, name } = cluster;
  const { data } = await kubernetes.get(`/api/v1/namespaces/${namespace}/secrets/${name}-owner`);
  const program = `
    QUOIN_API_KEY=$(cat) QUOIN_CA_PEM=$(cat /etc/quoin/ca/ca.crt) QUOIN_ENDPOINTS=${name}.${namespace}.svc:7400 \\
      exec quoinctl "$@"`;
  const exec = ["exec", "--namespace", namespace, "--stdin", `${name}-0`, "--", "sh", "-c", program, "quoinctl"];
  return kubernetes.cluster.kubectl([...exec, ...args], { input: Buffer.from(data["api-key"], "base64").toString() });
}
