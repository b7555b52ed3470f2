/** Kubeconfig for the API server of a spec. */
import { KubeConfig } from "@kubernetes/client-node";

/** @param user other fields of the user, such as the path of its token */
export function configOf(url: string, user: object = {}): KubeConfig {
  const config = new KubeConfig();
  config.loadFromOptions({
    // The library accepts plain HTTP only if certificates are not checked.
    clusters: [{ name: "c", server: url, skipTLSVerify: true }],
    users: [{ name: "u", ...user }],
    contexts: [{ name: "x", cluster: "c", user: "u" }],
    currentContext: "x",
  });
  return config;
}
