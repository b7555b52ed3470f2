{{/* Name of the Deployment and its objects. It does not depend on the name of the release. */}}
{{- define "quoin-operator.name" -}}
{{ .Values.fullnameOverride | default "quoin-operator" }}
{{- end }}

{{- define "quoin-operator.selector" -}}
app.kubernetes.io/name: quoin-operator
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "quoin-operator.labels" -}}
{{ include "quoin-operator.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/component: operator
app.kubernetes.io/part-of: quoin
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{/* The same labels and the user's, which cannot replace ours. Argument: list of root context and user labels. */}}
{{- define "quoin-operator.labelsWith" -}}
{{- $ours := include "quoin-operator.labels" (first .) | fromYaml -}}
{{ mergeOverwrite (deepCopy (last .)) $ours | toYaml }}
{{- end }}

{{- define "quoin-operator.serviceAccount" -}}
{{ .Values.serviceAccount.name | default (include "quoin-operator.name" .) }}
{{- end }}

{{/* Registry and name of the image, without tag. */}}
{{- define "quoin-operator.repository" -}}
{{- $registry := .Values.image.registry | default .Values.global.imageRegistry -}}
{{- if $registry }}{{ trimSuffix "/" $registry }}/{{ end }}{{ .Values.image.repository }}
{{- end }}

{{- define "quoin-operator.image" -}}
{{- with .Values.image -}}
{{ include "quoin-operator.repository" $ }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{/* Rights of the operator in each namespace that it watches: exactly those that it uses. */}}
{{- define "quoin-operator.rules" -}}
- apiGroups: [quoin.dev]
  resources: [coordinationclusters]
  verbs: [get, list, watch, patch]
- apiGroups: [quoin.dev]
  resources: [coordinationclusters/status]
  verbs: [patch]
# Some API servers require this right to set an owner reference with blockOwnerDeletion.
- apiGroups: [quoin.dev]
  resources: [coordinationclusters/finalizers]
  verbs: [update]
# The operator creates the backups of schedules, and deletes old ones.
- apiGroups: [quoin.dev]
  resources: [coordinationbackups]
  verbs: [get, list, watch, create, delete]
- apiGroups: [quoin.dev]
  resources: [coordinationbackupstores, coordinationbackupschedules]
  verbs: [get, list, watch]
- apiGroups: [quoin.dev]
  resources: [coordinationbackups/status, coordinationbackupstores/status, coordinationbackupschedules/status]
  verbs: [patch]
- apiGroups: [apps]
  resources: [statefulsets]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [""]
  resources: [configmaps]
  verbs: [get, list, watch, create, patch]
- apiGroups: [""]
  resources: [services]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [policy]
  resources: [poddisruptionbudgets]
  verbs: [get, list, watch, create, patch, delete]
# The StatefulSet creates claims and pods. The operator itself creates only the pods that recover a lost quorum.
- apiGroups: [""]
  resources: [persistentvolumeclaims]
  verbs: [get, list, watch, patch, delete]
- apiGroups: [""]
  resources: [pods]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [""]
  resources: [pods/eviction]
  verbs: [create]
- apiGroups: [""]
  resources: [serviceaccounts]
  verbs: [get, list, watch, create, patch]
# The operator can only grant rights that it has itself. Its members may read and label their own pods.
- apiGroups: [rbac.authorization.k8s.io]
  resources: [roles, rolebindings]
  verbs: [get, list, watch, create, patch]
- apiGroups: [networking.k8s.io]
  resources: [networkpolicies]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [monitoring.coreos.com]
  resources: [podmonitors, prometheusrules]
  verbs: [get, create, patch, delete]
- apiGroups: [cert-manager.io]
  resources: [certificates]
  verbs: [get, create, patch, delete]
# By name only: the operator can neither list nor watch Secrets.
- apiGroups: [""]
  resources: [secrets]
  verbs: [get, create, patch]
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create]
# Only events report why a pod or a volume was not created.
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [list]
{{- end }}
