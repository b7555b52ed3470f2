import type { Divergence } from "../../state/index.ts";

/** The reason why a member with a diverged state stops, for operators. */
export function describeDivergence({ index, digest, clusterDigest }: Divergence): string {
  const [own, cluster] = [hexOf(digest), hexOf(clusterDigest)];
  return `at log index ${index} the state of this member had the digest ${own}, and that of the cluster ${cluster}`;
}

function hexOf(digest: number): string {
  return digest.toString(16).padStart(8, "0");
}
