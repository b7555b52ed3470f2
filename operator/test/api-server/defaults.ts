/**
 * Defaults that an API server adds to objects: enough of them to show that an operator does not count them as changes.
 */
import type { Any } from "./tree.ts";

export function withDefaults(plural: string, object: Any): void {
  if (plural === "statefulsets" && object.spec?.template !== undefined) {
    object.spec.revisionHistoryLimit ??= 10;
    object.spec.minReadySeconds ??= 0;
    podDefaults(object.spec.template);
  }
}

function podDefaults(template: Any): void {
  template.metadata ??= {};
  template.spec ??= {};
  const { spec } = template;
  spec.dnsPolicy ??= "ClusterFirst";
  spec.schedulerName ??= "default-scheduler";
  spec.terminationGracePeriodSeconds ??= 30;
  for (const container of spec.containers ?? []) {
    container.terminationMessagePath ??= "/dev/termination-log";
    for (const probe of ["startupProbe", "livenessProbe", "readinessProbe"]) {
      const settings = container[probe];
      if (settings !== undefined) {
        settings.successThreshold ??= 1;
        settings.timeoutSeconds ??= 1;
      }
    }
  }
  for (const volume of spec.volumes ?? []) {
    const source = volume.secret ?? volume.configMap;
    if (source !== undefined) {
      source.defaultMode ??= 420;
    }
  }
}
