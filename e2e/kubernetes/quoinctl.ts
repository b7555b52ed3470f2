/** The command line, as the owner of a cluster runs it in a member's pod. */

import type { QuoinCluster } from "./quoin-cluster.ts";

export interface CallAtMember {
  /** Name of the member, which alone is called. */
  readonly member: string;
  readonly token: string;
  /** Standard input of the command; absent = empty. */
  readonly input?: string;
}

/** Returns its output. Rejects with its error output. */
export async function quoinctl(cluster: QuoinCluster, ...args: readonly string[]): Promise<string> {
  const { kubernetes, namespace, name } = cluster;
  const { data } = await kubernetes.get(`/api/v1/namespaces/${namespace}/secrets/${name}-owner`);
  const key = Buffer.from(data["api-key"], "base64").toString();
  return await runIn(cluster, `${name}-0`, `QUOIN_ENDPOINTS=${name}.${namespace}.svc:7400 QUOIN_API_KEY`, key, args);
}

/** Like `quoinctl`, with a token at one member. */
export async function quoinctlAt(
  cluster: QuoinCluster,
  { member, token, input = "" }: CallAtMember,
  ...args: readonly string[]
): Promise<string> {
  return await runIn(cluster, member, "QUOIN_ENDPOINTS=localhost:7400 QUOIN_TOKEN", `${token}\n${input}`, args);
}

/** @param variables for `export`; the last one gets the first line of the input. */
function runIn(
  { kubernetes, namespace }: QuoinCluster,
  pod: string,
  variables: string,
  input: string,
  args: readonly string[],
): Promise<string> {
  const program = `
    read -r SECRET
    export QUOIN_CA_PEM="$(cat /etc/quoin/ca/ca.crt)" ${variables}="$SECRET"
    exec quoinctl "$@"`;
  const exec = ["exec", "--namespace", namespace, "--stdin", pod, "--", "sh", "-c", program, "quoinctl"];
  return kubernetes.cluster.kubectl([...exec, ...args], { input });
}
