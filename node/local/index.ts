export type { Endpoints } from "./cluster-files.ts";
export { LocalCluster } from "./local-cluster.ts";
export type { LocalOptions } from "./options.ts";
export {
  freeBasePort,
  isFree,
  LOCAL_HOST,
  MEMBERS_MAX,
  type MemberPorts,
  PORTS_PER_MEMBER,
  portsOf,
  STABLE_PORT_MAX,
  STABLE_PORT_MIN,
} from "./ports.ts";
export { RestartedMember } from "./restarted-member.ts";
export { StartError } from "./start-error.ts";
